//! Threads with memory of their own and one bounded queue before them. Not tokio's blocking pool: its
//! hundreds of threads would each run a hash at once and thrash the cache (`stack` section 2).

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::verify::Arena;

/// How much lower than request threads hashing threads are scheduled (`performance` section 4).
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// What stands before the threads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    /// Jobs that wait.
    pub(super) waiting: usize,
    /// Their work and that of the jobs under way.
    pub(super) work: u64,
}

struct State<J> {
    queue: VecDeque<(J, u64)>,
    load: Load,
    closed: bool,
}

struct Shared<J> {
    state: Mutex<State<J>>,
    ready: Condvar,
}

impl<J> Shared<J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        // A panic elsewhere leaves a whole queue: every change below is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The threads. Dropping it ends them after the hash under way.
pub(super) struct Pool<J> {
    shared: Arc<Shared<J>>,
    threads: Vec<JoinHandle<()>>,
}

impl<J: Send + 'static> Pool<J> {
    /// Starts `workers` threads that do `work` with an arena each.
    pub(super) fn start(
        workers: usize,
        arena: impl Fn() -> Arena + Send + Sync + 'static,
        work: impl Fn(J, &mut Arena) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let state = State { queue: VecDeque::new(), load: Load::default(), closed: false };
        let mut pool = Self {
            shared: Arc::new(Shared { state: Mutex::new(state), ready: Condvar::new() }),
            threads: Vec::with_capacity(workers),
        };
        let doing = Arc::new((arena, work));
        for number in 0..workers {
            let (shared, doing) = (Arc::clone(&pool.shared), Arc::clone(&doing));
            let run = move || {
                lower_priority();
                let mut arena = doing.0();
                while let Some((job, cost)) = next(&shared) {
                    doing.1(job, &mut arena);
                    shared.lock().load.work -= cost;
                }
            };
            pool.threads.push(thread::Builder::new().name(format!("hash-{number}")).spawn(run)?);
        }
        Ok(pool)
    }

    /// Queues `job` if `admit` agrees with what is there already; otherwise gives it back.
    pub(super) fn push(&self, job: J, cost: u64, admit: impl FnOnce(Load) -> bool) -> Result<(), J> {
        let mut state = self.shared.lock();
        if state.closed || !admit(state.load) {
            return Err(job);
        }
        state.queue.push_back((job, cost));
        state.load.waiting += 1;
        state.load.work += cost;
        drop(state);
        self.shared.ready.notify_one();
        Ok(())
    }

    /// What stands before the threads now.
    pub(super) fn load(&self) -> Load {
        self.shared.lock().load
    }
}

fn next<J>(shared: &Shared<J>) -> Option<(J, u64)> {
    let mut state = shared.lock();
    loop {
        if state.closed {
            return None;
        }
        if let Some(job) = state.queue.pop_front() {
            state.load.waiting -= 1;
            return Some(job);
        }
        state = shared.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

impl<J> Drop for Pool<J> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.queue.clear();
        drop(state);
        self.shared.ready.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing more to say here.
            drop(thread.join());
        }
    }
}

/// Best effort: where the system refuses it, hashing works all the same.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
}
