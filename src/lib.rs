//! Doorward, an OpenID Connect identity provider. The map of the house; `docs/` tells the ways through it.

pub use doorward_domain as domain;

/// Wiring: from configuration to a running server, and its calm end.
pub mod boot;
/// One file per command of the binary.
pub mod cli;
/// The only place that reads the time.
pub mod clock;
/// doorward.toml, one file per section.
pub mod config;
/// What a request knows about itself.
pub mod context;
/// The only place that draws random bytes.
pub mod entropy;
/// Endpoints, pages, and how answers are rendered.
pub mod http;
/// Signing keys: the ring, signers, published form.
pub mod keys;
/// Logs and metrics.
pub mod observe;
/// The one guarded client for outbound requests.
pub mod outbound;
/// Password hashing behind its gate.
pub mod password;
/// Sealing, tagging and hashing of what leaves the process or rests in the store.
pub mod seal;
/// Use cases: load facts, ask the domain, act on the store.
pub mod service;
/// The database; nothing above it sees SQL.
pub mod store;
/// Loops in the background.
pub mod tasks;
