//! The state of a browser as clients' frames may know it (Session Management 1.0 section 3.2): another after
//! each sign-in, none after the sign-out. A keyed hash, so that whoever reads it learns neither the `sid` nor
//! anything else, and can make no other of it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::accounts::Accounts;
use crate::context::Ctx;
use crate::seal::Purpose;
use crate::service::App;

/// The state while the same people are signed in here and none of them proves herself again; `None`: nobody is.
/// Which of them is the present one does not matter: an application of another has nothing to ask then.
#[must_use]
pub fn of(app: &App, ctx: &Ctx, accounts: &Accounts) -> Option<String> {
    let mut proofs: Vec<[u8; 24]> = accounts
        .iter()
        .map(|account| {
            let mut proof = [0; 24];
            let (id, proved) = proof.split_at_mut(16);
            id.copy_from_slice(account.session.id.as_bytes());
            proved.copy_from_slice(&account.session.auth_time.as_micros().to_be_bytes());
            proof
        })
        .collect();
    proofs.sort_unstable();
    let state = || app.sealer.tag(ctx.realm.id, Purpose::BrowserState, &[proofs.as_flattened()]);
    (!proofs.is_empty()).then(|| URL_SAFE_NO_PAD.encode(state()))
}
