//! What a realm file declares, checked field by field but not yet against what is stored.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::model::power::Power;
use crate::model::secret::{Secret, SecretHash};
use crate::protocol::subject::PairwiseKey;

/// A realm as declared in one document of a file.
#[derive(Debug, Clone, Default)]
pub struct DeclaredRealm {
    /// The file, for messages.
    pub file: String,
    /// The line of `realm:`.
    pub line: usize,
    /// Its name, the natural key.
    pub name: String,
    /// `display_name`, `enabled`, `issuer`.
    pub fields: Overlay,
    /// `settings:`, nested as in the file.
    pub settings: Overlay,
    /// `roles:`; `None` = left out.
    pub roles: Option<Vec<DeclaredRole>>,
    /// `groups:`, parents before children.
    pub groups: Option<Vec<DeclaredGroup>>,
    /// `users:`.
    pub users: Option<Vec<DeclaredUser>>,
    /// `clients:`.
    pub clients: Option<Vec<DeclaredClient>>,
    /// `resources:`.
    pub resources: Option<Vec<DeclaredResource>>,
    /// `scopes:`.
    pub scopes: Option<Vec<DeclaredScope>>,
    /// `pairwise_key_encrypted`, with its line.
    pub pairwise_key: Option<(usize, DeclaredPairwiseKey)>,
}

/// Declared values that lie over stored ones: what is absent keeps the stored value, `null` takes the
/// field back to its default. Every value was checked when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlay {
    pub(super) values: Map<String, Value>,
    pub(super) lines: BTreeMap<String, usize>,
}

impl Overlay {
    /// Whether the field was declared (dotted for nested ones).
    #[must_use]
    pub fn has(&self, field: &str) -> bool {
        self.lines.contains_key(field)
    }

    /// The line of a declared field.
    #[must_use]
    pub fn line(&self, field: &str) -> Option<usize> {
        self.lines.get(field).copied()
    }

    /// The declared value.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.values.get(field)
    }

    /// The declared values over `base`. `None` only when a checked value does not fit the model, which
    /// the tests of the schema rule out.
    #[must_use]
    pub fn over<T: Serialize + DeserializeOwned>(&self, base: &T) -> Option<T> {
        let mut value = serde_json::to_value(base).ok()?;
        lay(value.as_object_mut()?, &self.values);
        serde_json::from_value(value).ok()
    }
}

/// Lays `over` on `base`, mapping by mapping.
fn lay(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (name, value) in over {
        match (base.get_mut(name), value) {
            (_, Value::Null) => {
                base.remove(name);
            }
            (Some(Value::Object(below)), Value::Object(above)) => lay(below, above),
            (_, Value::Object(above)) => {
                let mut fresh = Map::new();
                lay(&mut fresh, above);
                base.insert(name.clone(), Value::Object(fresh));
            }
            _ => {
                base.insert(name.clone(), value.clone());
            }
        }
    }
}

/// A role by name: of the realm, or of a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleRef {
    /// The `client_id` it belongs to; `None` = a realm role.
    pub client: Option<String>,
    /// Its name.
    pub name: String,
}

impl std::fmt::Display for RoleRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.client {
            Some(client) => write!(f, "{} of client {client}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A declared value that may also be unset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said<T> {
    /// This value.
    Value(T),
    /// `null`: no value.
    Nothing,
}

impl<T> Said<T> {
    /// The value, if it is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Nothing => None,
        }
    }
}

/// A list with the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The line of the field.
    pub line: usize,
    /// The entries, each once.
    pub items: Vec<T>,
}

/// A role as declared.
#[derive(Debug, Clone)]
pub struct DeclaredRole {
    /// Its line.
    pub line: usize,
    /// Its natural key.
    pub role: RoleRef,
    /// `description`.
    pub description: Option<Said<String>>,
    /// `composites`.
    pub composites: Option<Listed<RoleRef>>,
}

/// A group as declared.
#[derive(Debug, Clone)]
pub struct DeclaredGroup {
    /// Its line.
    pub line: usize,
    /// Its natural key, `/staff/editors`.
    pub path: String,
    /// `roles`.
    pub roles: Option<Listed<RoleRef>>,
}

/// A user as declared.
#[derive(Debug, Clone)]
pub struct DeclaredUser {
    /// Its line.
    pub line: usize,
    /// The user name in the spelling of the file; its canonical form is the natural key.
    pub username: String,
    /// `sub`, only at creation.
    pub sub: Option<String>,
    /// `enabled`.
    pub enabled: Option<bool>,
    /// The standard claims.
    pub claims: Overlay,
    /// `password`.
    pub password: Option<DeclaredPassword>,
    /// `groups`, as paths.
    pub groups: Option<Listed<String>>,
    /// `roles`.
    pub roles: Option<Listed<RoleRef>>,
    /// `administrator`.
    pub administrator: Option<Said<Power>>,
}

/// A user's password as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclaredPassword {
    /// The password itself, applied only at creation.
    Value(Secret),
    /// Where the command line finds it; applied only at creation.
    Ref(SecretRef),
    /// A PHC string.
    Hash(Secret),
    /// A PHC string as `export --with-secrets` wrote it.
    Encrypted(String),
}

/// A client as declared.
#[derive(Debug, Clone)]
pub struct DeclaredClient {
    /// Its line.
    pub line: usize,
    /// Its natural key.
    pub client_id: String,
    /// `enabled`.
    pub enabled: Option<bool>,
    /// The metadata.
    pub metadata: Overlay,
    /// `client_secret`, `secret_ref` or `client_secret_encrypted`; absent keeps the stored one.
    pub secret: Option<DeclaredClientSecret>,
}

/// A client's secret as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclaredClientSecret {
    /// The secret itself.
    Value(Secret),
    /// Where the command line finds it.
    Ref(SecretRef),
    /// Its stored hash as `export --with-secrets` wrote it.
    Encrypted(String),
    /// The stored hash, opened by the command line.
    Hash(SecretHash),
}

/// The key of a realm's pairwise subs as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclaredPairwiseKey {
    /// As `export --with-secrets` wrote it.
    Encrypted(String),
    /// Opened by the command line.
    Value(Box<PairwiseKey>),
}

/// Where the command line finds a secret (`security-design` rule 28).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretRef {
    /// `env:DOORWARD_SECRET_…`.
    Env(String),
    /// `file:PATH`.
    File(String),
}

impl std::fmt::Display for SecretRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{path}"),
        }
    }
}

/// A scope of the realm's own as declared.
#[derive(Debug, Clone)]
pub struct DeclaredScope {
    /// Its line.
    pub line: usize,
    /// Its natural key.
    pub name: String,
    /// `consent`, `description`, `listed`.
    pub fields: Overlay,
}

/// A protected resource as declared.
#[derive(Debug, Clone)]
pub struct DeclaredResource {
    /// Its line.
    pub line: usize,
    /// Its natural key.
    pub identifier: String,
    /// `display_name`.
    pub display_name: Option<Said<String>>,
    /// `scopes`.
    pub scopes: Option<Listed<String>>,
    /// `introspection_clients`.
    pub introspection_clients: Option<Listed<String>>,
}
