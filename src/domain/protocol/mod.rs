//! The rules of the protocols: pure functions, each citing its paragraph.

pub mod access_token;
pub mod authorize;
pub mod backchannel_logout;
pub mod claims;
pub mod client_assertion;
pub mod client_auth;
pub mod discovery;
pub mod foreign_jwks;
pub mod foreign_jws;
pub mod front_channel;
pub mod frontchannel_logout;
pub mod id_token;
pub mod introspection;
mod json;
pub mod jwks;
pub mod jwt;
pub mod key_schedule;
pub mod key_set_age;
pub mod logout;
pub mod may_receive;
pub mod opaque_token;
pub mod params;
pub mod pkce;
pub mod redirect_uri;
pub mod refresh_token_text;
pub mod refusal;
pub mod registration;
pub mod request_object;
pub mod request_uri;
pub mod requested_claims;
pub mod resource;
pub mod revocation;
pub mod scope;
pub mod session_management;
pub mod strict_json;
pub mod subject;
pub mod token;
pub mod token_text;
pub mod ui_locales;

#[cfg(test)]
mod sample;
