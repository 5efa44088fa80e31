//! The sign-in: pending requests, the engine that alone decides where to go next, and its steps.

pub mod consent;
pub mod engine;
pub mod flow;
pub mod form;
pub mod password;
pub mod select_account;
