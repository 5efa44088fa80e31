//! Wiring: from configuration to handles, listeners, background work, and a calm end. Decides nothing.

pub mod background;
pub mod build;
pub mod first;
pub mod listen;
pub mod lock;
pub mod management;
pub mod run;
