//! The harness. Everything acts through public addresses, except where a name says `db_`.

pub(crate) mod process;
pub(crate) mod services;
pub(crate) mod webdriver;
