//! The nouns of the product, one per file. Plain values without behaviour that needs the outside.

pub mod audit;
pub mod backchannel_logout;
pub mod client;
pub mod consent;
pub mod credential;
pub mod device;
pub mod event;
pub mod grant;
pub mod group;
pub mod identifier;
pub mod ids;
pub mod initial_access_token;
pub mod key;
pub mod power;
pub mod realm;
pub mod resource;
pub mod response_type;
pub mod role;
pub mod scope;
pub mod secret;
pub mod session;
pub mod span;
pub mod timestamp;
pub mod user;
