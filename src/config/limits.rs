//! What one request or peer may take.

use std::time::Duration;

use super::key::{Key, Kind};
use super::reader::Reader;

const BODY: Key = Key {
    name: "limits.body_kib",
    kind: Kind::Integer,
    default: "64",
    allowed: "8 to 1024",
    meaning: "Body of a request at most; larger ones are answered 413",
    secret: false,
};
const HEADER: Key = Key {
    name: "limits.header_kib",
    kind: Kind::Integer,
    default: "16",
    allowed: "8 to 256",
    meaning: "Request line and headers at most; larger ones are answered 431",
    secret: false,
};
const HEADER_TIMEOUT: Key = Key {
    name: "limits.header_timeout_ms",
    kind: Kind::Integer,
    default: "10000",
    allowed: "1000 to 120000",
    meaning: "How long a connection may take to send the headers of a request",
    secret: false,
};
const REQUEST_TIMEOUT: Key = Key {
    name: "limits.request_timeout_ms",
    kind: Kind::Integer,
    default: "15000",
    allowed: "1000 to 120000",
    meaning: "How long a request may take with its body and answer; then it is answered 503",
    secret: false,
};
const CONNECTIONS: Key = Key {
    name: "limits.connections",
    kind: Kind::Integer,
    default: "10000",
    allowed: "16 to 1000000",
    meaning: "Open connections at most; further ones wait in the kernel",
    secret: false,
};
const DRAIN_DELAY: Key = Key {
    name: "limits.drain_delay_ms",
    kind: Kind::Integer,
    default: "5000",
    allowed: "0 to 60000",
    meaning: "How long the server still takes connections after SIGTERM while `/health/ready` says no, so that load balancers look away first; with `--dev` 0 unless set",
    secret: false,
};

pub(super) const KEYS: &[&Key] = &[&BODY, &HEADER, &HEADER_TIMEOUT, &REQUEST_TIMEOUT, &CONNECTIONS, &DRAIN_DELAY];

/// The settings of this section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Bytes of request line and headers.
    pub header: usize,
    /// Time to send headers.
    pub header_timeout: Duration,
    /// Time for a whole request.
    pub request_timeout: Duration,
    /// Open connections.
    pub connections: usize,
    /// Time between "not ready" and closed listeners.
    pub drain_delay: Duration,
}

impl Limits {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        let body = reader.integer(&BODY, 8_u16..=1024);
        let header = reader.integer(&HEADER, 8_u16..=256);
        let header_timeout = reader.integer(&HEADER_TIMEOUT, 1000..=120_000);
        let request_timeout = reader.integer(&REQUEST_TIMEOUT, 1000..=120_000);
        let connections = reader.integer(&CONNECTIONS, 16_u32..=1_000_000);
        let no_delay = reader.dev && !reader.is_set(&DRAIN_DELAY);
        let drain_delay = reader.integer(&DRAIN_DELAY, 0..=60_000);
        Some(Self {
            body: usize::from(body?) * 1024,
            header: usize::from(header?) * 1024,
            header_timeout: Duration::from_millis(header_timeout?),
            request_timeout: Duration::from_millis(request_timeout?),
            connections: usize::try_from(connections?).ok()?,
            drain_delay: if no_delay { Duration::ZERO } else { Duration::from_millis(drain_delay?) },
        })
    }
}
