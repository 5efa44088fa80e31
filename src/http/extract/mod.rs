//! What is read from a request before anything is decided.

pub mod address;
pub mod bearer;
pub mod body;
pub mod call;
pub mod place;
