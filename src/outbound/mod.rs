//! The one guarded client for requests that the server makes itself (`security-design` rule 25). A
//! stranger who can name an address must not be able to make the server reach where he cannot: the
//! socket's address is checked before any byte is sent, redirects are not followed, proxies of the
//! environment are not asked, sizes and times are capped, and failures all read the same.

pub mod address;
mod client;
mod error;
mod key_set;
mod logo;
pub mod names;
mod request_object;
mod sector;
mod tls;

pub use client::{DEFAULT_MAX, Fetched, Outbound, TIME_LIMIT, Trust};
pub use error::{Error, StartError};
pub use logo::{LOGO_MAX, media_type};
