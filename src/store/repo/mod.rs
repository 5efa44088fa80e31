//! One file per aggregate. Every function takes the realm first and gives domain types; readers take any
//! [`Source`](super::Source), writers the use case's [`Tx`](super::Tx), in which they note what read models
//! must drop. A row that cannot be what its table holds is reported as corrupt, never guessed at.

pub mod audit;
pub mod backchannel_logout;
pub mod client;
pub mod consent;
pub mod credential;
pub mod device;
pub mod grant;
pub mod group;
pub mod identifier;
pub mod initial_access_token;
pub mod key;
pub mod logo;
pub mod meta;
pub mod outbox;
pub mod power;
pub mod purge;
pub mod realm;
pub mod registration;
pub mod resource;
pub mod role;
mod row;
pub mod scope;
pub mod session;
pub mod setup;
pub mod token;
pub mod user;
