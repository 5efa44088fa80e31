//! The authorization endpoint's rules (RFC 6749 section 4.1.1, OpenID Connect Core 3.1.2): an ordered
//! table of checks, one file per check, and the typed request that comes out.

pub mod repeated;
pub mod request;
pub mod response;
pub mod table;

mod claims;
mod client;
mod hints;
mod id_token_hint;
mod max_age;
mod nonce;
mod pkce;
mod prompt;
mod redirect_uri;
mod request_object;
mod resource;
mod response_mode;
mod response_type;
mod scope;
mod state;

#[cfg(test)]
pub(crate) mod example;

pub use request::{AuthorizeRequest, Display, ErrorRedirect, Prompt, ResponseMode};
pub use table::{Facts, HintFact, Outcome, check};
