//! A protected resource (RFC 8707): an API for which access tokens are made.

use super::ids::{RealmId, ResourceId};

/// A resource as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: ResourceId,
    /// Absolute URI without fragment, in the spelling that goes into `aud`.
    pub identifier: String,
    /// What people read.
    pub display_name: Option<String>,
    /// Scopes it understands.
    pub scopes: Vec<String>,
    /// `client_id`s that may introspect its tokens.
    pub introspection_clients: Vec<String>,
}
