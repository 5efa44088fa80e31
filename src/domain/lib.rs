//! Doorward's model and protocol rules: values in, values out. Nothing here reads a clock, a file,
//! a socket or a random source; `now` and every id are arguments. Cryptographic libraries are
//! allowed, since they are functions.

pub mod clock;
pub mod model;
pub mod protocol;
pub mod realm_file;
pub mod signin;
