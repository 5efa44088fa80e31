//! Use cases: load facts, ask the domain, act on the store, say what happened. No HTTP types here.

use std::sync::Arc;

use crate::clock::Clock;
use crate::config::Config;
use crate::entropy::Entropy;
use crate::keys::KeyRing;
use crate::outbound::Outbound;
use crate::password::PasswordGate;
use crate::seal::Sealer;
use crate::service::authorize::repeats::Repeats;
use crate::store::Store;

pub mod admin;
pub mod authorize;
pub mod backchannel_logout;
pub mod client_auth;
pub mod client_keys;
pub mod discovery;
pub mod error;
pub mod frontchannel_logout;
pub mod introspect;
pub mod logo;
pub mod logout;
pub mod origins;
pub mod overdue;
pub mod realm_file;
pub mod register;
pub mod replay;
pub mod revoke;
pub mod rotate_keys;
pub mod sector;
pub mod session;
pub mod setup;
pub mod signin;
pub mod subject;
pub mod token;
pub mod userinfo;

pub use authorize::request_uri::RequestUris;
pub use client_keys::ClientKeys;
pub use error::{Error, Fault};
pub use register::used::LastUses;
pub use subject::PairwiseKeys;

/// The handles that every use case works with.
#[derive(Clone)]
pub struct App {
    /// The settings of this process.
    pub config: Arc<Config>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Draws random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The database.
    pub store: Store,
    /// Seals, tags, hashes.
    pub sealer: Sealer,
    /// Signing keys.
    pub keys: KeyRing,
    /// Password hashing behind its gate.
    pub passwords: PasswordGate,
    /// The guarded client.
    pub outbound: Arc<Outbound>,
    /// What applications sent lately, to notice constants.
    pub repeats: Arc<Repeats>,
    /// Clients' own keys.
    pub client_keys: ClientKeys,
    /// When clients that registered themselves were last used.
    pub last_uses: LastUses,
    /// What stood at clients' `request_uris`.
    pub request_uris: RequestUris,
    /// Realms' keys of pairwise subs.
    pub pairwise_keys: PairwiseKeys,
}
