//! What a request or a task run knows about itself: made once, passed down.

use std::net::IpAddr;
use std::sync::Arc;

use doorward_domain::model::realm::Realm;
use doorward_domain::model::timestamp::Timestamp;

/// The circumstances of one request or task run.
#[derive(Debug, Clone)]
pub struct Ctx {
    /// The one "now" of this request.
    pub now: Timestamp,
    /// The realm it came to.
    pub realm: Arc<Realm>,
    /// The realm's issuer, byte for byte as in discovery.
    pub issuer: Arc<str>,
    /// Finds the log line; shown on error pages.
    pub request_id: Arc<str>,
    /// The client's address: the right-most hop that no trusted proxy wrote.
    pub address: Option<IpAddr>,
    /// The `User-Agent`, cut to 256 bytes.
    pub user_agent: Option<Arc<str>>,
}
