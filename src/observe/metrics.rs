//! Every metric, declared here and nowhere else (Prometheus text format 0.0.4). Labels are closed lists:
//! nothing that a stranger can choose becomes a label.

use std::sync::LazyLock;

use prometheus::core::Collector;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};

/// The process's metrics.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Requests by route and class of status: `2xx` …
    pub http_requests: IntCounterVec,
    /// Seconds from the first byte of a request to its answer, by route.
    pub http_seconds: HistogramVec,
    /// Tokens issued, by grant type.
    pub tokens: IntCounterVec,
    /// Refused token requests, by reason.
    pub token_refusals: IntCounterVec,
    /// Applications found to send a constant, by parameter: `code_challenge`, `nonce`.
    pub repeated_values: IntCounterVec,
    /// Sign-in attempts, by outcome.
    pub sign_ins: IntCounterVec,
    /// Password jobs that wait.
    pub password_queue: IntGauge,
    /// Password jobs refused, by cause: `full`, `late`, `gone`.
    pub password_refusals: IntCounterVec,
    /// Seconds of one hash.
    pub password_seconds: Histogram,
    /// Operations that one commit of the batched writer carried.
    pub batch_size: Histogram,
    /// Seconds of one such commit.
    pub batch_seconds: Histogram,
    /// Operations turned away because the batched writer was full.
    pub batch_refusals: IntCounter,
    /// Reads that a read model answered, by kind.
    pub read_model_hits: IntCounterVec,
    /// Reads that went to the database, by kind.
    pub read_model_misses: IntCounterVec,
    /// Milliseconds since the change feed was last caught up.
    pub feed_lag_ms: IntGauge,
    /// Statements sent to the database, by what they are for: `read`, `write`, `batch`, and `feed`, the
    /// look for changes that goes on without anybody asking.
    pub store_statements: IntCounterVec,
    /// Database connections, by state: `used`, `idle`.
    pub store_connections: IntGaugeVec,
    /// Log lines lost because their writer was behind.
    pub log_dropped: IntCounter,
}

/// The metrics of this process.
pub fn metrics() -> &'static Metrics {
    static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);
    &METRICS
}

impl Metrics {
    fn new() -> Self {
        let registry = Registry::new();
        let r = &registry;
        // Cached answers take tens of microseconds, a sign-in tens of milliseconds.
        let requests = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
        let commits = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0];
        let hashes = [0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1.0];
        let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
        Self {
            http_requests: counters(
                r,
                "http_requests_total",
                "Requests by route and class of status.",
                &["route", "status"],
            ),
            http_seconds: histograms(
                r,
                "http_request_seconds",
                "Duration of requests by route.",
                &["route"],
                &requests,
            ),
            tokens: counters(r, "tokens_issued_total", "Tokens issued by grant type.", &["grant"]),
            token_refusals: counters(r, "token_refusals_total", "Refused token requests by reason.", &["reason"]),
            repeated_values: counters(
                r,
                "repeated_values_total",
                "Applications found to send the same value with every authorization request, by parameter.",
                &["parameter"],
            ),
            sign_ins: counters(r, "sign_ins_total", "Sign-in attempts by outcome.", &["outcome"]),
            password_queue: gauge(r, "password_queue", "Password jobs that wait."),
            password_refusals: counters(r, "password_refusals_total", "Password jobs refused by cause.", &["cause"]),
            password_seconds: histogram(r, "password_hash_seconds", "Duration of one hash.", &hashes),
            batch_size: histogram(r, "batch_operations", "Operations in one commit of the batched writer.", &sizes),
            batch_seconds: histogram(r, "batch_commit_seconds", "Duration of one such commit.", &commits),
            batch_refusals: counter(r, "batch_refusals_total", "Operations refused by a full batched writer."),
            read_model_hits: counters(r, "read_model_hits_total", "Reads that a read model answered.", &["kind"]),
            read_model_misses: counters(r, "read_model_misses_total", "Reads that went to the database.", &["kind"]),
            feed_lag_ms: gauge(r, "feed_lag_milliseconds", "Time since the change feed was last caught up."),
            store_statements: counters(
                r,
                "store_statements_total",
                "Statements sent to the database by what they are for.",
                &["for"],
            ),
            store_connections: gauges(r, "store_connections", "Database connections by state.", &["state"]),
            log_dropped: counter(r, "log_lines_dropped_total", "Log lines lost because their writer was behind."),
            registry,
        }
    }

    /// All of them in the text format.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = Vec::new();
        // Writing to memory fails only for a metric without a name, which none here is.
        let _ = TextEncoder::new().encode(&self.registry.gather(), &mut text);
        String::from_utf8(text).unwrap_or_default()
    }
}

#[expect(
    clippy::expect_used,
    reason = "names and labels are constants above; a wrong one fails the first test that starts"
)]
fn keep<C: Collector + Clone + 'static>(registry: &Registry, made: prometheus::Result<C>) -> C {
    let collector = made.expect("a well-formed metric");
    registry.register(Box::new(collector.clone())).expect("a name that is not taken");
    collector
}

fn opts(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace("doorward")
}

fn histogram_opts(name: &str, help: &str, buckets: &[f64]) -> HistogramOpts {
    HistogramOpts::new(name, help).namespace("doorward").buckets(buckets.to_vec())
}

fn counter(registry: &Registry, name: &str, help: &str) -> IntCounter {
    keep(registry, IntCounter::with_opts(opts(name, help)))
}

fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    keep(registry, IntCounterVec::new(opts(name, help), labels))
}

fn gauge(registry: &Registry, name: &str, help: &str) -> IntGauge {
    keep(registry, IntGauge::with_opts(opts(name, help)))
}

fn gauges(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    keep(registry, IntGaugeVec::new(opts(name, help), labels))
}

fn histogram(registry: &Registry, name: &str, help: &str, buckets: &[f64]) -> Histogram {
    keep(registry, Histogram::with_opts(histogram_opts(name, help, buckets)))
}

fn histograms(registry: &Registry, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    keep(registry, HistogramVec::new(histogram_opts(name, help, buckets), labels))
}
