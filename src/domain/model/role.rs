//! Roles: of the realm or of one client; a composite brings others along.

use super::ids::{ClientKey, RealmId, RoleId};

/// A role as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: RoleId,
    /// The client it belongs to; `None` = a realm role.
    pub client: Option<ClientKey>,
    /// Unique within realm or client.
    pub name: String,
    /// For administrators.
    pub description: Option<String>,
    /// Roles that come with it.
    pub composites: Vec<RoleId>,
}
