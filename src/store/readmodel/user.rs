//! Users with what their roles and groups amount to.

use crate::domain::model::user::User;

/// A user as tokens and claims need him.
#[derive(Debug, Clone)]
pub struct UserFacts {
    /// The account.
    pub user: User,
}
