//! Every metric, declared here and nowhere else (Prometheus text format 0.0.4). Labels are closed lists:
//! nothing that a stranger can choose becomes a label.

use std::sync::LazyLock;

use prometheus::core::Collector;
use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TextEncoder,
};

use crate::domain::model::client::{AccessTokenFormat, GrantType};

/// The process's metrics.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Seconds from the first byte of a request to its answer, by route, method and status.
    pub http_seconds: HistogramVec,
    /// Tokens issued, by grant type, format and what they are bound to.
    tokens: IntCounterVec,
    /// Refused token requests, by endpoint and the error that was answered.
    pub token_errors: IntCounterVec,
    /// Uses of refresh tokens, by result: `ok`, `retry`, `reuse`, `expired`, `refused`.
    pub refreshes: IntCounterVec,
    /// Applications found to send a constant, by parameter: `code_challenge`, `nonce`.
    pub repeated_values: IntCounterVec,
    /// Sign-in attempts, by realm, method, result and reason.
    pub sign_ins: IntCounterVec,
    /// Password jobs that wait.
    pub password_queue: IntGauge,
    /// Seconds that a password job waited for its turn.
    pub password_wait: Histogram,
    /// Work refused at the door, by lane and reason: `full`, `late`, `gone`.
    pub admission_refused: IntCounterVec,
    /// Seconds of one hash, by algorithm.
    pub password_seconds: HistogramVec,
    /// Operations that one commit of the batched writer carried.
    pub batch_size: Histogram,
    /// Seconds of one such commit.
    pub batch_seconds: Histogram,
    /// Reads by read model and whether it answered: `hit`, `miss`.
    pub cache_requests: IntCounterVec,
    /// Seconds since the change feed was last caught up.
    pub feed_lag: Gauge,
    /// Database connections, by state: `used`, `idle`, `max`.
    pub db_connections: IntGaugeVec,
    /// Whether a dependency answered when it was last asked.
    pub dependency_up: IntGaugeVec,
    /// What waits to be told to others, by kind: `logout`.
    pub outbox_pending: IntGaugeVec,
    /// Seconds that the oldest of it has waited.
    pub outbox_oldest: IntGaugeVec,
    /// Attempts to tell a client that a session has ended, by result: `delivered`, `refused`, `failed`,
    /// `given_up`.
    pub logout_deliveries: IntCounterVec,
    /// New TLS certificates that could not be used.
    pub tls_reload_failures: IntCounter,
    /// How often the database's clock jumped.
    pub clock_jumps: IntCounter,
    /// Whether the clock is believed by what ends or deletes because time has passed: 1 or 0.
    pub clock_sure: IntGauge,
    /// Statements sent to the database, by what they are for: `read`, `write`, `batch`, and `feed`, the
    /// look for changes that goes on without anybody asking.
    pub store_statements: IntCounterVec,
    /// Log lines lost because their writer was behind.
    pub log_dropped: IntCounter,
}

/// The lane of sign-ins in [`Metrics::admission_refused`].
pub const LANE_PASSWORD: &str = "password";
/// The lane of the batched writer.
pub const LANE_BATCH: &str = "batch";

/// The metrics of this process.
pub fn metrics() -> &'static Metrics {
    static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);
    &METRICS
}

impl Metrics {
    fn new() -> Self {
        let registry = Registry::new();
        let r = &registry;
        // The bounds that OpenTelemetry recommends for this metric.
        let requests = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
        let commits = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0];
        let hashes = [0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1.0];
        let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
        let build = gauges(r, "build_info", "What runs.", &["version", "commit"]);
        build
            .with_label_values(&[env!("CARGO_PKG_VERSION"), option_env!("DOORWARD_COMMIT").unwrap_or("unknown")])
            .set(1);
        Self {
            http_seconds: http_seconds(r, &requests),
            tokens: counters(r, "tokens_issued_total", "Tokens issued.", &["grant", "format", "bound"]),
            token_errors: counters(r, "token_errors_total", "Refused token requests.", &["endpoint", "error"]),
            refreshes: counters(r, "refresh_total", "Uses of refresh tokens by result.", &["result"]),
            sign_ins: counters(r, "sign_ins_total", "Sign-in attempts.", &["realm", "method", "result", "reason"]),
            password_queue: gauge(r, "password_queue_depth", "Password jobs that wait."),
            password_wait: histogram(r, "password_queue_wait_seconds", "Wait of a password job.", &hashes),
            admission_refused: counters(r, "admission_refused_total", "Work refused at the door.", &["lane", "reason"]),
            password_seconds: keep(
                r,
                HistogramVec::new(
                    histogram_opts("password_hash_duration_seconds", "Duration of one hash.", &hashes),
                    &["algorithm"],
                ),
            ),
            repeated_values: counters(r, "repeated_values_total", "Applications that send a constant.", &["parameter"]),
            store_statements: counters(r, "store_statements_total", "Statements sent to the database.", &["for"]),
            batch_size: histogram(r, "batch_operations", "Operations in one commit of the batched writer.", &sizes),
            batch_seconds: histogram(r, "batch_commit_duration_seconds", "Duration of one such commit.", &commits),
            cache_requests: counters(
                r,
                "cache_requests_total",
                "Reads by read model and result.",
                &["cache", "result"],
            ),
            feed_lag: keep(r, Gauge::with_opts(opts("feed_lag_seconds", "Since the change feed was caught up."))),
            db_connections: gauges(r, "db_pool_connections", "Database connections by state.", &["state"]),
            dependency_up: gauges(r, "dependency_up", "Whether it answered when last asked.", &["dependency"]),
            outbox_pending: gauges(r, "outbox_pending", "What waits to be told to others.", &["kind"]),
            outbox_oldest: gauges(r, "outbox_oldest_seconds", "How long the oldest of it has waited.", &["kind"]),
            logout_deliveries: counters(r, "logout_deliveries_total", "Logout notices to clients.", &["result"]),
            tls_reload_failures: counter(r, "tls_reload_failures_total", "TLS certificates that were not taken."),
            clock_jumps: counter(r, "clock_jumps_total", "Jumps of the database's clock."),
            clock_sure: gauge(r, "clock_sure", "Whether timed acts believe the clock: 1 or 0."),
            log_dropped: counter(r, "log_lines_dropped_total", "Log lines lost because their writer was behind."),
            registry,
        }
    }

    /// Counts an answer with tokens.
    pub fn issued(&self, grant: GrantType, format: AccessTokenFormat, is_bound: bool) {
        let format = match format {
            AccessTokenFormat::Jwt => "jwt",
            AccessTokenFormat::Opaque => "opaque",
        };
        let bound = if is_bound { "key" } else { "none" };
        self.tokens.with_label_values(&[grant.as_str(), format, bound]).inc();
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

/// Named as OpenTelemetry names it, so that dashboards for any server fit.
fn http_seconds(registry: &Registry, bounds: &[f64]) -> HistogramVec {
    let name = "http_server_request_duration_seconds";
    let opts = HistogramOpts::new(name, "Duration of requests.").buckets(bounds.to_vec());
    keep(registry, HistogramVec::new(opts, &["http_route", "http_request_method", "http_response_status_code"]))
}
