//! The demo relying party at `/demo`, only with `--dev`: what an application does, as plainly as it
//! can be done. It knows the provider only through its public addresses, over HTTP like any other.

pub mod callback;
pub mod home;
pub mod logout;
pub mod refresh;
pub mod relying_party;
pub mod start;
pub mod state;

/// The demo's own client.
pub const CLIENT_ID: &str = "demo";
/// The demo's user.
pub const USERNAME: &str = "demo";
/// The demo user's password; it exists only in a development database.
pub const PASSWORD: &str = "doorward demo";
/// What the demo asks for.
pub const SCOPE: &str = "openid profile email offline_access";
