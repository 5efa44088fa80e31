//! The one integration test binary: modules by behaviour, the harness in `kit`.

#![expect(
    clippy::unchecked_time_subtraction,
    clippy::enum_variant_names,
    clippy::semicolon_if_nothing_returned,
    clippy::large_futures,
    clippy::format_collect,
    clippy::unused_self,
    clippy::manual_assert,
    clippy::type_complexity,
    clippy::print_stderr,
    reason = "tests: arithmetic on constants, harness methods, messages for who runs them"
)]
#![expect(
    unreachable_pub,
    reason = "a test binary has nobody outside; `pub` says that a harness item is for all tests"
)]

// `cfg(test)` tells clippy that the harness too may unwrap.
#[cfg(test)]
mod adapters;
#[cfg(test)]
mod alike;
#[cfg(test)]
mod architecture;
#[cfg(test)]
mod authorize;
#[cfg(test)]
mod backchannel_logout;
#[cfg(test)]
mod claims_parameter;
#[cfg(test)]
mod client_assertion;
#[cfg(test)]
mod client_auth;
#[cfg(test)]
mod client_credentials;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod code;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod consent;
#[cfg(test)]
mod cookies;
#[cfg(test)]
mod cors;
#[cfg(test)]
mod defaults;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod e2e;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod feed;
#[cfg(test)]
mod front_channel;
#[cfg(test)]
mod frontchannel_logout;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod introspection;
#[cfg(test)]
mod key_rotation;
#[cfg(test)]
mod kit;
#[cfg(test)]
mod logo;
#[cfg(test)]
mod logout;
#[cfg(test)]
mod main_job;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod process;
#[cfg(test)]
mod realm_file;
#[cfg(test)]
mod realms;
#[cfg(test)]
mod refresh;
#[cfg(test)]
mod registration;
#[cfg(test)]
mod request_object;
#[cfg(test)]
mod resources;
#[cfg(test)]
mod revocation;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod scopes;
#[cfg(test)]
mod select_account;
#[cfg(test)]
mod session_management;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod signin;
#[cfg(test)]
mod store;
#[cfg(test)]
mod subject;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod tabs;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod userinfo;
