//! The rules of the protocols: pure functions, each citing its paragraph.

pub mod authorize;
pub mod params;
pub mod pkce;
pub mod redirect_uri;
pub mod refusal;
pub mod resource;
pub mod scope;
