//! The adapters that need no database: sealing, keys, password, configuration.

mod config;
mod keys;
mod password;
mod seal;
