//! Endpoints and pages: parse, call a use case, render. `router` holds the whole surface.

pub mod answer;
pub mod begin;
pub mod cookies;
pub mod demo;
pub mod extract;
pub mod front;
pub mod layer;
pub mod oidc;
pub mod page;
pub mod render;
pub mod root;
pub mod router;
pub mod session_state;
pub mod setup;
pub mod signed_out;
pub mod signin;
pub mod statics;
