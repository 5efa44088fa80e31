//! What every answer gets, whoever made it.

pub mod cors;
pub mod headers;
