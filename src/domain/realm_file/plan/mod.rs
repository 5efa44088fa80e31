//! Stored x declared → the acts that make the stored realm equal to the declared one. Acts stand in an
//! order in which they can be done: what others point at first, deletions last. A plan made of what is
//! stored is empty. Values of secrets never appear in it as text.

mod access;
mod client;
mod compare;
mod delete;
mod front_channel;
mod known;
mod realm;
mod resource;
mod scope;
mod subject;
mod user;

use std::fmt;

use super::declared::{DeclaredRealm, RoleRef};
use super::fault::{Fault, Faults};
use super::stored::StoredRealm;
use crate::model::client::{Client, ClientMetadata};
use crate::model::ids::{ClientKey, GroupId, ResourceId, RoleId, ScopeId, UserId};
use crate::model::power::Power;
use crate::model::realm::RealmSettings;
use crate::model::scope::ScopeTerms;
use crate::model::secret::{Secret, SecretHash};
use crate::model::user::StandardClaims;
use crate::protocol::subject::PairwiseKey;
use known::Known;

/// How to plan.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Whether stored objects that are not declared go. Users only when the file has `users:`.
    pub prune: bool,
    /// Whether the client's newest live secret is this one: only the sealer can tell.
    pub holds: &'a (dyn Fn(&Client, &Secret) -> bool + Sync),
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("prune", &self.prune).finish_non_exhaustive()
    }
}

/// What has to be done to one realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The realm's name.
    pub realm: String,
    /// The acts, in order.
    pub acts: Vec<Act>,
    /// What may be done and should be thought about, be there anything to do or not.
    pub warnings: Vec<Fault>,
}

/// One act on one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// What happens to it.
    pub verb: Verb,
    /// What kind of object.
    pub object: Object,
    /// Its natural key.
    pub name: String,
    /// What differs; empty for a deletion.
    pub fields: Vec<FieldChange>,
    /// What the store has to do.
    pub change: Change,
}

/// What happens to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It is new.
    Create,
    /// Some fields differ.
    Update,
    /// It goes.
    Delete,
}

impl Verb {
    /// The word in plans.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// The kinds of object in a realm file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// The realm itself with its settings.
    Realm,
    /// A role.
    Role,
    /// A group.
    Group,
    /// A user.
    User,
    /// A client.
    Client,
    /// A resource.
    Resource,
    /// A scope of the realm's own.
    Scope,
}

impl Object {
    /// The word in plans.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Realm => "realm",
            Self::Role => "role",
            Self::Group => "group",
            Self::User => "user",
            Self::Client => "client",
            Self::Resource => "resource",
            Self::Scope => "scope",
        }
    }
}

/// A field that differs, in words for a person. A secret shows `(set)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// Dotted name, as in the file.
    pub field: String,
    /// What is stored; `None` = nothing.
    pub from: Option<String>,
    /// What it becomes; `None` = nothing.
    pub to: Option<String>,
}

/// What the store has to do, with names where rows may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Create or update the realm.
    PutRealm(Box<WantedRealm>),
    /// Create or update a resource.
    PutResource(WantedResource),
    /// Create or update a scope.
    PutScope(WantedScope),
    /// Create or update a client.
    PutClient(Box<WantedClient>),
    /// Create or update a role.
    PutRole(WantedRole),
    /// Create or update a group; its parent comes before it.
    PutGroup(WantedGroup),
    /// Create or update a user.
    PutUser(Box<WantedUser>),
    /// Delete a user.
    DeleteUser(UserId),
    /// Delete a group; those below it go before it.
    DeleteGroup(GroupId),
    /// Delete a role.
    DeleteRole(RoleId),
    /// Delete a client and end its grants.
    DeleteClient(ClientKey),
    /// Delete a resource.
    DeleteResource(ResourceId),
    /// Delete a scope.
    DeleteScope(ScopeId),
}

/// A realm as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedRealm {
    /// Its name.
    pub name: String,
    /// What people read.
    pub display_name: Option<String>,
    /// Whether it answers.
    pub enabled: bool,
    /// Its own issuer.
    pub issuer: Option<String>,
    /// Everything that can be set.
    pub settings: RealmSettings,
    /// The key of its pairwise subs, where it had none.
    pub pairwise_key: Option<PairwiseKey>,
}

/// A role as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedRole {
    /// The stored row, when there is one.
    pub id: Option<RoleId>,
    /// Its natural key.
    pub role: RoleRef,
    /// For administrators.
    pub description: Option<String>,
    /// Roles that come with it.
    pub composites: Vec<RoleRef>,
}

/// A group as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedGroup {
    /// The stored row, when there is one.
    pub id: Option<GroupId>,
    /// Its whole path.
    pub path: String,
    /// Roles its members have.
    pub roles: Vec<RoleRef>,
}

impl WantedGroup {
    /// Its own name: the last part of the path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path above; `None` = at the top.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.path.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())
    }
}

/// A user as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedUser {
    /// The stored row, when there is one.
    pub id: Option<UserId>,
    /// The user name in its spelling.
    pub username: String,
    /// The `sub` asked for at creation; `None` = a random one, or the stored one.
    pub sub: Option<String>,
    /// Whether the account may do anything.
    pub enabled: bool,
    /// The claims.
    pub claims: StandardClaims,
    /// Paths of its groups.
    pub groups: Vec<String>,
    /// Roles given directly.
    pub roles: Vec<RoleRef>,
    /// Administrative powers.
    pub powers: Vec<Power>,
    /// What becomes of the password.
    pub password: PasswordChange,
}

/// What becomes of a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordChange {
    /// It stays, or there is none.
    Keep,
    /// This password, to be hashed before the transaction; only at creation.
    Value(Secret),
    /// This PHC string.
    Hash(Secret),
}

/// A client as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedClient {
    /// The stored row, when there is one.
    pub key: Option<ClientKey>,
    /// The public `client_id`.
    pub client_id: String,
    /// Whether it may do anything.
    pub enabled: bool,
    /// What is registered.
    pub metadata: ClientMetadata,
    /// What becomes of the secret.
    pub secret: SecretChange,
}

/// What becomes of a client's secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretChange {
    /// It stays, or there is none.
    Keep,
    /// This secret takes the place of the stored one.
    Value(Secret),
    /// This stored form takes the place of the stored one.
    Hash(SecretHash),
}

/// A scope as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedScope {
    /// The stored row, when there is one.
    pub id: Option<ScopeId>,
    /// Its name.
    pub name: String,
    /// What is said of it.
    pub terms: ScopeTerms,
}

/// A resource as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedResource {
    /// The stored row, when there is one.
    pub id: Option<ResourceId>,
    /// Its natural key.
    pub identifier: String,
    /// What people read.
    pub display_name: Option<String>,
    /// Scopes it understands.
    pub scopes: Vec<String>,
    /// `client_id`s that may introspect its tokens.
    pub introspection_clients: Vec<String>,
}

/// Compares what is declared with what is stored. References are checked against both; every fault is
/// collected. Secrets must have been resolved: a `secret_ref` that still stands is a fault.
pub fn plan(stored: &StoredRealm, declared: &DeclaredRealm, options: Options<'_>) -> Result<Plan, Vec<Fault>> {
    let mut faults = Faults::new(&declared.file);
    let known = Known::of(stored, declared, options, &mut faults);
    let mut acts = Vec::new();
    let mut warnings = Faults::new(&declared.file);
    realm::plan(stored, declared, &mut acts, &mut faults);
    resource::plan(stored, declared, &known, &mut acts, &mut faults);
    scope::plan(stored, declared, &mut acts, &mut faults);
    client::plan(stored, declared, &known, &mut acts, &mut faults);
    front_channel::warn(stored, declared, &mut warnings);
    subject::warn(stored, &acts, declared, &mut warnings);
    scope::warn(stored, declared, options, &mut warnings);
    access::plan_roles(stored, declared, &known, &mut acts, &mut faults);
    access::plan_groups(stored, declared, &known, &mut acts, &mut faults);
    user::plan(stored, declared, &known, &mut acts, &mut faults);
    if options.prune {
        delete::plan(stored, declared, &known, &mut acts);
    }
    if faults.is_empty() {
        Ok(Plan { realm: declared.name.clone(), acts, warnings: warnings.into_list() })
    } else {
        Err(faults.into_list())
    }
}
