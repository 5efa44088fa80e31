//! The authorization endpoint's work: read and check a request, keep it while a person signs in,
//! answer it.

pub mod hint;
pub mod issue;
pub mod repeats;
pub mod request_object;
pub mod request_uri;
pub mod start;
