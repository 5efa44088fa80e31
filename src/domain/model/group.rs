//! Groups: a tree; members have the roles of their groups and of those above.

use super::ids::{GroupId, RealmId, RoleId};

/// A group as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: GroupId,
    /// The group above; `None` = at the top.
    pub parent: Option<GroupId>,
    /// Unique among its siblings, without `/`.
    pub name: String,
    /// The whole path, `/staff/editors`, unique in the realm.
    pub path: String,
    /// Roles its members have.
    pub roles: Vec<RoleId>,
}
