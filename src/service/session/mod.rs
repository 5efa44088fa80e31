//! Sessions: opened on a device, bound to it, ended once with time and reason.

pub mod accounts;
pub mod agent;
pub mod bind;
pub mod browser_state;
pub mod cookie_text;
mod crossing;
pub mod end;
pub mod open;
