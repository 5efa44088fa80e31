//! The adapters that need no database: sealing, keys, password, configuration, log, outbound requests.

mod config;
mod keys;
mod observe;
mod outbound;
mod password;
mod seal;
