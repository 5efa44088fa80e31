//! What the demo remembers, sealed in a cookie of its own: first the request under way, then the tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::http::cookies::Cookie;
use crate::http::extract::call::Call;
use crate::seal::Purpose;

/// The demo's memory.
#[derive(Serialize, Deserialize)]
pub enum DemoState {
    /// A request under way.
    Pending {
        /// Comes back in the answer.
        state: String,
        /// Comes back in the ID token.
        nonce: String,
        /// Proves that who redeems the code is who asked for it (RFC 7636).
        verifier: String,
    },
    /// Signed in.
    SignedIn(Tokens),
}

/// The answer of the token endpoint.
#[derive(Clone, Serialize, Deserialize)]
pub struct Tokens {
    /// For APIs.
    pub access_token: String,
    /// For new ones.
    pub refresh_token: Option<String>,
    /// Who signed in.
    pub id_token: Option<String>,
    /// Seconds.
    pub expires_in: u64,
    /// What was granted.
    pub scope: String,
    /// How often they were refreshed.
    #[serde(default)]
    pub refreshes: u64,
}

const CONTEXT: &[u8] = b"demo";

/// Reads it.
#[must_use]
pub fn read(call: &Call) -> Option<DemoState> {
    let sealed = URL_SAFE_NO_PAD.decode(call.cookie(Cookie::Demo)?).ok()?;
    serde_json::from_slice(&call.app.sealer.open(call.ctx.realm.id, Purpose::ShortLived, &sealed, CONTEXT)?).ok()
}

/// The cookie that keeps it.
#[must_use]
pub fn keep(call: &Call, state: &DemoState) -> HeaderValue {
    let text = serde_json::to_vec(state).unwrap_or_default();
    let sealed = call.app.sealer.seal(call.ctx.realm.id, Purpose::ShortLived, &text, CONTEXT);
    Cookie::Demo.set(&call.ctx.site, &URL_SAFE_NO_PAD.encode(sealed), None)
}
