//! The sign-in page, the session behind it, and what strangers try on both.

mod again;
mod forged;
mod page;
mod random;
mod refused;
mod repeats;
mod session;
