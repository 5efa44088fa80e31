//! Load: every connection has one request under way, on one thread of its own; latencies are whole
//! microseconds from the first byte sent to the last byte read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::connection::Connection;
use super::workload::State;

const WARM: u8 = 0;
const MEASURE: u8 = 1;
const STOP: u8 = 2;

/// What one turn gave.
pub(super) struct Slice {
    pub(super) requests: u64,
    pub(super) errors: u64,
    pub(super) first_error: Option<String>,
    pub(super) elapsed: Duration,
    /// Sorted, microseconds.
    pub(super) latencies: Vec<u32>,
    pub(super) server_cpu: Option<Duration>,
    pub(super) database_cpu: Option<Duration>,
}

#[derive(Default)]
struct Tally {
    latencies: Vec<u32>,
    errors: u64,
    first_error: Option<String>,
}

/// Runs the states for the time to warm up and the time to measure; they are given back changed.
pub(super) fn run(
    states: &mut Vec<State>,
    warm: Duration,
    time: Duration,
    cpu: &dyn Fn() -> Option<Duration>,
    database_cpu: &dyn Fn() -> Option<Duration>,
) -> Result<Slice, String> {
    let phase = Arc::new(AtomicU8::new(WARM));
    let (shared, moved) = (phase.clone(), std::mem::take(states));
    let thread = std::thread::spawn(move || generate(moved, &shared));
    std::thread::sleep(warm);
    let before = (cpu(), database_cpu());
    let began = Instant::now();
    phase.store(MEASURE, Ordering::Relaxed);
    std::thread::sleep(time);
    phase.store(STOP, Ordering::Relaxed);
    let elapsed = began.elapsed();
    let after = (cpu(), database_cpu());
    let (given_back, tally) = thread.join().map_err(|_| "the generator ended".to_owned())??;
    *states = given_back;
    let mut latencies = tally.latencies;
    latencies.sort_unstable();
    Ok(Slice {
        requests: latencies.len() as u64,
        errors: tally.errors,
        first_error: tally.first_error,
        elapsed,
        latencies,
        server_cpu: difference(before.0, after.0),
        database_cpu: difference(before.1, after.1),
    })
}

fn difference(before: Option<Duration>, after: Option<Duration>) -> Option<Duration> {
    Some(after?.saturating_sub(before?))
}

fn generate(states: Vec<State>, phase: &Arc<AtomicU8>) -> Result<(Vec<State>, Tally), String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for state in states {
            tasks.spawn(one(state, phase.clone()));
        }
        let (mut given_back, mut all) = (Vec::new(), Tally::default());
        while let Some(done) = tasks.join_next().await {
            let (state, tally) = done.map_err(|error| error.to_string())??;
            given_back.push(state);
            all.latencies.extend(tally.latencies);
            all.errors += tally.errors;
            all.first_error = all.first_error.or(tally.first_error);
        }
        Ok((given_back, all))
    })
}

async fn one(mut state: State, phase: Arc<AtomicU8>) -> Result<(State, Tally), String> {
    let mut connection = Connection::open(state.port()).await?;
    let mut tally = Tally::default();
    loop {
        let now = phase.load(Ordering::Relaxed);
        if now == STOP {
            return Ok((state, tally));
        }
        let request = state.request()?;
        let sent = Instant::now();
        let outcome = connection.send(request).await.and_then(|answer| state.take(&answer));
        if now == MEASURE {
            tally.latencies.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
            if let Err(error) = outcome {
                tally.errors += 1;
                tally.first_error.get_or_insert(error);
            }
        }
    }
}
