//! The harness. Everything acts through public addresses, except where a name says `db_`.

pub(crate) mod browser;
pub(crate) mod db;
pub(crate) mod flow;
pub(crate) mod house;
pub(crate) mod names;
pub(crate) mod node_clock;
pub(crate) mod oauth2_proxy;
pub(crate) mod op;
pub(crate) mod page;
pub(crate) mod peers;
pub(crate) mod process;
pub(crate) mod receiver;
pub(crate) mod relay;
pub(crate) mod relying_party;
pub(crate) mod rows;
pub(crate) mod services;
pub(crate) mod signing;
pub(crate) mod tls_host;
pub(crate) mod token;
pub(crate) mod visitor;
pub(crate) mod webdriver;
