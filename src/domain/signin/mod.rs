//! Sign-in rules: what comes next, which factors count, names.

pub mod identifier;
pub mod next_step;
pub mod weak_password;
