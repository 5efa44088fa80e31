//! Users with what their roles and groups amount to.

use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::ids::{RealmId, UserId};
use crate::domain::model::user::User;
use crate::store::repo::role::Effective;
use crate::store::{Error, repo};

const MOST: usize = 16_384;

pub(super) type Users = Model<(RealmId, UserId), UserFacts>;

pub(super) fn new() -> Users {
    Model::new("user", MOST)
}

/// A user as tokens and claims need him.
#[derive(Debug, Clone)]
pub struct UserFacts {
    /// The account.
    pub user: User,
    /// Roles and groups, his own and those that come with them.
    pub effective: Effective,
}

impl ReadModels {
    /// The user with what his roles and groups amount to.
    pub async fn user(&self, realm: RealmId, user: UserId) -> Result<Option<Arc<UserFacts>>, Error> {
        let model = &self.inner.users;
        let key = (realm, user);
        if let Some(facts) = self.kept(model, &key) {
            return Ok(Some(facts));
        }
        let read = &self.inner.read;
        let load = async {
            let Some(account) = repo::user::find(read, realm, user).await? else { return Ok(None) };
            let effective = repo::role::effective(read, realm, user).await?;
            Ok(Some(UserFacts { user: account, effective }))
        };
        self.load(model, key, load).await
    }
}
