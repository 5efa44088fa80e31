//! Sign-in rules: what comes next, which factors count, names.

pub mod cookie_header;
pub mod identifier;
pub mod next_step;
pub mod select_account;
pub mod tagged_text;
pub mod weak_password;
