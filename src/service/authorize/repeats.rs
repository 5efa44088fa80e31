//! Notices applications that send one `code_challenge` or `nonce` again and again (RFC 9700 section 2.1.1).
//! Each node counts for itself, and forgets what it counted when it stops or when too many values pass: the
//! effort is reasonable, and nothing depends on it.

use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::sync::Cache;

use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::Client;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::authorize::repeated::{MANY, Seen};
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::observe::metrics::metrics;
use crate::seal::sha256;
use crate::service::session::end;
use crate::service::{App, Error};

/// Values that are remembered: an hour of two or three sign-ins a second.
const REMEMBERED: usize = 10_000;

/// What came lately.
pub struct Repeats {
    seen: Cache<[u8; 32], Arc<Mutex<Option<Seen>>>>,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { seen: Cache::new(REMEMBERED) }
    }
}

impl Repeats {
    /// Whether it is time to tell that `value` came again and again.
    fn again(&self, key: &[u8; 32], now: Timestamp) -> bool {
        let cell = self.seen.get(key).unwrap_or_else(|| {
            let cell = Arc::default();
            self.seen.insert(*key, Arc::clone(&cell));
            cell
        });
        let mut known = cell.lock().unwrap_or_else(PoisonError::into_inner);
        let (seen, tell) = Seen::again(*known, now);
        *known = Some(seen);
        tell
    }
}

/// Counts the values of a request that has passed its checks, and tells the operator of a constant one.
///
/// # Errors
/// When the audit event cannot be written.
pub async fn notice(app: &App, ctx: &Ctx, client: &Client, request: &AuthorizeRequest) -> Result<(), Error> {
    for (parameter, value) in [("code_challenge", &request.code_challenge), ("nonce", &request.nonce)] {
        let Some(value) = value else { continue };
        let key = sha256(&[client.key.as_bytes(), parameter.as_bytes(), b"\0", value.as_bytes()].concat()).0;
        if !app.repeats.again(&key, ctx.now) {
            continue;
        }
        metrics().repeated_values.with_label_values(&[parameter]).inc();
        tracing::warn!(
            realm = ctx.realm.name,
            client_id = client.client_id,
            parameter,
            times = MANY,
            "an application sends the same value with every request, which protects nobody: it must draw a new one each time"
        );
        let mut audit = end::event(app, ctx, AuditKind::ValueRepeated, Actor::Client);
        audit.client = Some(client.key);
        audit.reason = Some(parameter);
        app.store.batch().audit(audit).await?;
    }
    Ok(())
}
