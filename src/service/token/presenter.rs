//! Who presents a refresh token (`security-design` rule 9): a keyed hash of `User-Agent` and network
//! prefix (IPv4 /24, IPv6 /48), so that a retry of the same app is told from a thief elsewhere. A
//! DPoP key takes their place once there is one.

use std::net::IpAddr;

use crate::context::Ctx;
use crate::seal::Purpose;
use crate::service::App;

/// The hash.
#[must_use]
pub fn presenter(app: &App, ctx: &Ctx) -> [u8; 16] {
    let network = match ctx.address {
        Some(IpAddr::V4(address)) => (address.to_bits() & 0xffff_ff00).to_be_bytes().to_vec(),
        Some(IpAddr::V6(address)) => (address.to_bits() >> 80).to_be_bytes().to_vec(),
        None => Vec::new(),
    };
    let agent = ctx.user_agent.as_deref().unwrap_or("");
    app.sealer.tag(ctx.realm.id, Purpose::Presenter, &[&network, agent.as_bytes()])
}
