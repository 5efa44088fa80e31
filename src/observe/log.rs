//! The log. A request leaves one line of under 300 bytes, written by a thread of its own: a slow disk or
//! terminal costs lines, counted, never answers. Everything else goes through `tracing`. Neither holds
//! secrets, query strings, or what a stranger typed without its bounds.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use super::metrics::metrics;
use crate::config::{Format, Level, Log};
use crate::domain::model::timestamp::Timestamp;

/// A line with its end is shorter than this.
pub const MAX_LINE: usize = 300;
/// Lines that may wait for the writer.
const QUEUE: usize = 8192;
/// How long the writer lets lines gather once it was woken: under load one waking serves many requests.
const GATHER: Duration = Duration::from_millis(5);
/// Characters of each free field; less when the line would be too long.
const FIELD: usize = 40;

/// One answered request.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When it came.
    pub at: Timestamp,
    /// Finds this line; error pages show it.
    pub request_id: Arc<str>,
    /// The method.
    pub method: &'static str,
    /// The route's pattern, never the path that was asked for.
    pub route: Cow<'static, str>,
    /// The status of the answer.
    pub status: u16,
    /// Microseconds that it took.
    pub micros: u64,
    /// The realm's name.
    pub realm: Option<Arc<str>>,
    /// The client, once it is known.
    pub client_id: Option<String>,
    /// Why it was refused or failed, from a closed list.
    pub reason: Option<&'static str>,
}

impl Entry {
    const fn level(&self) -> &'static str {
        match self.status {
            500.. => "error",
            429 => "warn",
            _ => "info",
        }
    }

    /// The line without its end, in JSON; cut until it fits.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut line = String::with_capacity(MAX_LINE);
        for limit in [FIELD, 24, 16, 8] {
            line.clear();
            // Writing to a String cannot fail.
            let _ = self.json(&mut line, limit);
            if line.len() + 1 < MAX_LINE {
                break;
            }
        }
        line
    }

    fn json(&self, line: &mut String, limit: usize) -> fmt::Result {
        write!(line, "{{\"ts\":\"{}\",\"level\":\"{}\",\"request_id\":\"", self.at, self.level())?;
        plain(line, &self.request_id, limit);
        write!(line, "\",\"method\":\"{}\",\"route\":\"", self.method)?;
        plain(line, &self.route, limit);
        let (whole, rest) = (self.micros / 1000, self.micros % 1000);
        write!(line, "\",\"status\":{},\"ms\":{whole}.{rest:03}", self.status)?;
        let free = [("realm", self.realm.as_deref()), ("client", self.client_id.as_deref()), ("reason", self.reason)];
        for (name, value) in free {
            if let Some(value) = value {
                write!(line, ",\"{name}\":\"")?;
                plain(line, value, limit);
                line.push('"');
            }
        }
        line.push('}');
        Ok(())
    }

    /// The line without its end, for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut line = String::with_capacity(MAX_LINE);
        let _ = self.text(&mut line);
        line
    }

    fn text(&self, line: &mut String) -> fmt::Result {
        let time = self.at.to_rfc3339();
        let clock = time.get(11..19).unwrap_or(&time);
        let (whole, tenth) = (self.micros / 1000, self.micros % 1000 / 100);
        write!(line, "{clock} {} {:<6} ", self.status, self.method)?;
        plain(line, &self.route, FIELD);
        write!(line, " {whole}.{tenth} ms")?;
        for value in [self.realm.as_deref(), self.client_id.as_deref(), self.reason].into_iter().flatten() {
            line.push(' ');
            plain(line, value, FIELD);
        }
        line.push_str("  ");
        plain(line, &self.request_id, FIELD);
        Ok(())
    }
}

/// At most `limit` signs of printable ASCII without what JSON would escape: nothing in a value can end
/// it, start a line or grow it.
fn plain(line: &mut String, value: &str, limit: usize) {
    let is_plain = |sign: char| sign.is_ascii_graphic() && !matches!(sign, '"' | '\\');
    if value.len() <= limit && value.chars().all(is_plain) {
        line.push_str(value);
        return;
    }
    line.extend(value.chars().take(limit).map(|sign| if is_plain(sign) { sign } else { '?' }));
}

enum Item {
    Entry(Box<Entry>),
    Flush(SyncSender<()>),
}

/// Hands entries to their writer. Cheap to clone; the last one dropped writes what waits.
#[derive(Debug, Clone)]
pub struct AccessLog(Arc<Handle>);

#[derive(Debug)]
struct Handle {
    sender: Option<SyncSender<Item>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl AccessLog {
    /// Starts the writer's thread; `out` is usually standard output.
    pub fn start(format: Format, out: Box<dyn Write + Send>) -> io::Result<Self> {
        Self::with_queue(format, out, QUEUE)
    }

    /// With another length of the queue.
    pub fn with_queue(format: Format, out: Box<dyn Write + Send>, queue: usize) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(queue);
        let run = move || write_all(format, &receiver, out);
        let writer = thread::Builder::new().name("log".to_owned()).spawn(run)?;
        Ok(Self(Arc::new(Handle { sender: Some(sender), writer: Mutex::new(Some(writer)) })))
    }

    /// Queues one line; drops and counts it when the writer is behind.
    pub fn write(&self, entry: Entry) {
        let Some(sender) = &self.0.sender else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            sender.try_send(Item::Entry(Box::new(entry)))
        {
            metrics().log_dropped.inc();
        }
    }

    /// Waits until everything queued so far is written: at the end of a drain, and in tests.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        if let Some(sender) = &self.0.sender
            && sender.send(Item::Flush(done)).is_ok()
        {
            // The writer has gone: nothing is left to wait for.
            let _ = written.recv();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(writer.join());
        }
    }
}

/// Flushes when nothing waits.
fn write_all(format: Format, receiver: &Receiver<Item>, out: Box<dyn Write + Send>) {
    let mut out = io::BufWriter::with_capacity(64 * 1024, out);
    loop {
        let item = match receiver.try_recv() {
            Ok(item) => item,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                count_failure(out.flush());
                let Ok(item) = receiver.recv() else { break };
                if matches!(item, Item::Entry(_)) {
                    thread::sleep(GATHER);
                }
                item
            }
        };
        match item {
            Item::Entry(entry) => {
                let mut line = if format == Format::Json { entry.to_json() } else { entry.to_text() };
                line.push('\n');
                count_failure(out.write_all(line.as_bytes()));
            }
            Item::Flush(done) => {
                count_failure(out.flush());
                let _ = done.send(());
            }
        }
    }
    count_failure(out.flush());
}

/// A full disk or a closed pipe must not end the server.
fn count_failure(done: io::Result<()>) {
    if done.is_err() {
        metrics().log_dropped.inc();
    }
}

/// Sends what the code says about its work to standard error. Once a process: a second call fails.
pub fn install(settings: &Log) -> Result<(), TryInitError> {
    let ours = match settings.level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    // Libraries are heard from warnings on; their debug output may quote statements and addresses.
    let filter = Targets::new().with_default(LevelFilter::WARN.min(ours)).with_target("doorward", ours);
    let registry = tracing_subscriber::registry().with(filter);
    match settings.format {
        Format::Json => {
            let layer = tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(io::stderr);
            registry.with(layer).try_init()
        }
        Format::Text => {
            let layer = tracing_subscriber::fmt::layer().compact().with_target(false).with_writer(io::stderr);
            // Colours are for a terminal (which may decline them by NO_COLOR), not for a file.
            let layer = if io::stderr().is_terminal() { layer } else { layer.with_ansi(false) };
            registry.with(layer).try_init()
        }
    }
}
