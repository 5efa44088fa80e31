//! What the server tells about its work: metrics and log. Any room may call this one; it calls none.

pub mod log;
pub mod metrics;

pub use metrics::metrics;
