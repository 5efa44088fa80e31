//! The protocol's endpoints, one file each, named by its path.

pub mod answer;
pub mod authorize;
pub mod introspect;
pub mod jwks;
pub mod logout;
pub mod openid_configuration;
pub mod revoke;
pub mod token;
pub mod userinfo;
