//! The realm file (`contract` section 5): what is declared, and the plan that makes the stored realm
//! equal to it. A field left out keeps its stored value on update and takes its default on creation;
//! `null` takes it back to the default.
//!
//! [`parse`] reads YAML or JSON and reports every fault with file, line, object and field. [`plan`]
//! compares with what is stored and answers with acts in the order in which they can be done.
//! [`export`] writes the same format; a plan made of an export is empty. Nothing here resolves a
//! `secret_ref`, hashes a password or opens an encrypted secret: that is the command line's part.

mod clients;
pub mod declared;
mod export;
mod fault;
mod fields;
mod groups;
mod node;
mod plan;
mod realm;
mod registered;
mod resolve;
mod resources;
mod roles;
mod scopes;
mod settings;
pub mod stored;
mod text;
mod users;
mod write;

#[cfg(test)]
mod tests;

pub use declared::{
    DeclaredClient, DeclaredClientSecret, DeclaredGroup, DeclaredPairwiseKey, DeclaredPassword, DeclaredRealm,
    DeclaredResource, DeclaredRole, DeclaredScope, DeclaredUser, RoleRef, Said, SecretRef,
};
pub use export::{ExportedSecrets, export};
pub use fault::Fault;
pub use plan::{
    Act, Change, FieldChange, Object, Options, PasswordChange, Plan, SecretChange, Verb, WantedClient, WantedGroup,
    WantedRealm, WantedResource, WantedRole, WantedScope, WantedUser, plan,
};
pub use realm::{check_reachable, check_set, parse};
pub use registered::client_metadata;
pub use resolve::{SecretSource, resolve};
pub use stored::{StoredRealm, StoredUser};

/// The largest file that is read.
pub const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;
