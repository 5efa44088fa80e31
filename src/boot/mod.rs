//! Wiring: from configuration to handles, listeners, background work, and a calm end. Decides nothing.

pub mod background;
pub mod build;
mod client_certificate;
pub mod first;
pub mod listen;
pub mod lock;
pub mod management;
pub mod run;
pub mod tls;
