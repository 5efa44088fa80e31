//! Figures, budgets and the table. The budgets are those of `performance.md` 3, in multiples of the bare
//! route's processor time F and in signatures measured here; one that is missed is told by how much.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};

use super::generator::Slice;
use super::workload::Kind;

/// Repeats further apart than this say more about the machine than about the product.
const STEADY: f64 = 0.15;

/// One request's turns, and those of its bare twin.
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) body: usize,
    pub(super) measured: Vec<Slice>,
    pub(super) beside: Vec<Slice>,
}

/// Everything measured on one store.
pub(super) struct Table {
    pub(super) store: String,
    pub(super) connections: u64,
    pub(super) seconds: u64,
    /// Microseconds of one ES256 signature.
    pub(super) signature: f64,
    pub(super) idle_memory: u64,
    pub(super) loaded_memory: u64,
    pub(super) rows: Vec<Row>,
}

/// Medians over the turns.
struct Figures {
    per_second: f64,
    p50: f64,
    p99: f64,
    cpu: f64,
    database: Option<f64>,
    errors: u64,
    spread: f64,
}

impl Figures {
    fn of(slices: &[Slice]) -> Self {
        let median_of = |figure: &dyn Fn(&Slice) -> f64| median(slices.iter().map(figure).collect());
        let cpus: Vec<f64> = slices.iter().map(|slice| each(slice, slice.server_cpu)).collect();
        let (low, high) = cpus.iter().fold((f64::MAX, 0.0_f64), |(low, high), cpu| (low.min(*cpu), high.max(*cpu)));
        Self {
            per_second: median_of(&|slice| count(slice.requests) / slice.elapsed.as_secs_f64()),
            p50: median_of(&|slice| quantile(&slice.latencies, 50)),
            p99: median_of(&|slice| quantile(&slice.latencies, 99)),
            cpu: median(cpus),
            database: slices
                .iter()
                .all(|slice| slice.database_cpu.is_some())
                .then(|| median_of(&|slice| each(slice, slice.database_cpu))),
            errors: slices.iter().map(|slice| slice.errors).sum(),
            spread: if low > 0.0 { high / low - 1.0 } else { 0.0 },
        }
    }
}

impl Table {
    /// For the terminal.
    pub(super) fn text(&self) -> String {
        let mut out = format!("\n{} store, {} connections\n", self.store, self.connections);
        let cells: Vec<Vec<String>> =
            std::iter::once(Self::head()).chain(self.rows.iter().flat_map(|row| self.lines(row))).collect();
        let columns = cells.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                cells.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        for line in &cells {
            let padded: Vec<String> = line
                .iter()
                .zip(&widths)
                .enumerate()
                .map(
                    |(column, (cell, width))| {
                        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                    },
                )
                .collect();
            let _ = writeln!(out, "{}", padded.join("  "));
        }
        let _ = write!(out, "{}", self.notes(""));
        out
    }

    /// For the repository.
    pub(super) fn markdown(&self) -> String {
        let mut out = format!(
            "# `make bench`, {} store\n\n{} connections kept alive, turns of {} s, medians of {}; version {}.\n\n",
            self.store,
            self.connections,
            self.seconds,
            self.rows.first().map_or(0, |row| row.measured.len()),
            env!("CARGO_PKG_VERSION"),
        );
        let head = Self::head();
        let _ = writeln!(out, "| {} |\n| --- {}|", head.join(" | "), "| ---: ".repeat(head.len().saturating_sub(1)));
        for line in self.rows.iter().flat_map(|row| self.lines(row)) {
            let _ = writeln!(out, "| {} |", line.join(" | "));
        }
        let _ = write!(out, "{}", self.notes("- "));
        out
    }

    fn head() -> Vec<String> {
        ["request", "requests/s", "p50 us", "p99 us", "server us", "database us", "budget us", "errors"]
            .map(str::to_owned)
            .to_vec()
    }

    fn lines(&self, row: &Row) -> [Vec<String>; 2] {
        let (ours, bare) = (Figures::of(&row.measured), Figures::of(&row.beside));
        let budget = self.budget(row.kind, bare.cpu);
        let verdict = if ours.cpu <= budget {
            format!("{budget:.0}")
        } else {
            format!("{budget:.0}, missed by {:.0} %", (ours.cpu / budget - 1.0) * 100.0)
        };
        [line(row.kind.name(), &ours, &verdict), line(&format!("  bare, {} bytes", row.body), &bare, "")]
    }

    /// Microseconds of the server for one request; F is the bare route's.
    fn budget(&self, kind: Kind, bare: f64) -> f64 {
        let embedded = if self.store == "embedded" { 100.0 } else { 0.0 };
        match kind {
            Kind::Discovery => bare * 1.2,
            Kind::Userinfo | Kind::Introspect => bare * 2.5,
            Kind::ClientCredentials => bare + self.signature + 40.0,
            // An embedded database works inside the server's process.
            Kind::Refresh => bare + 2.0 * self.signature + 60.0 + embedded,
        }
    }

    fn notes(&self, mark: &str) -> String {
        let mut out = format!(
            "\n{mark}server us, database us: processor time (user and system) of one request, from the operating system's accounting.\n\
             {mark}one ES256 signature: {:.1} us. Resident memory: {} MiB idle, {} MiB at the end.\n",
            self.signature, self.idle_memory, self.loaded_memory
        );
        let _ = writeln!(out, "{mark}why budgets are missed: docs/performance.md.");
        for row in &self.rows {
            let spread = Figures::of(&row.measured).spread.max(Figures::of(&row.beside).spread);
            if spread > STEADY {
                let _ = writeln!(
                    out,
                    "{mark}{}: turns differ by {:.0} %, so other work disturbed it: measure again.",
                    row.kind.name(),
                    spread * 100.0
                );
            }
        }
        out
    }
}

fn line(name: &str, figures: &Figures, budget: &str) -> Vec<String> {
    vec![
        name.to_owned(),
        format!("{:.0}", figures.per_second),
        format!("{:.0}", figures.p50),
        format!("{:.0}", figures.p99),
        format!("{:.1}", figures.cpu),
        figures.database.map(|cpu| format!("{cpu:.1}")).unwrap_or_default(),
        budget.to_owned(),
        figures.errors.to_string(),
    ]
}

/// What one ES256 signature costs here, in microseconds: the best of many short runs, so that other
/// work on the machine does not count.
pub(super) fn signature_cost() -> Result<f64, String> {
    let failed = |_| "no ES256 signature could be made".to_owned();
    let random = SystemRandom::new();
    let sealed = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).map_err(failed)?;
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, sealed.as_ref())
        .map_err(|error| format!("no ES256 key: {error}"))?;
    let mut best = Duration::MAX;
    for _ in 0..100 {
        let began = Instant::now();
        for _ in 0..10 {
            black_box(pair.sign(&random, black_box(&[7; 600])).map_err(failed)?);
        }
        best = best.min(began.elapsed());
    }
    Ok(best.as_secs_f64() * 1e6 / 10.0)
}

fn each(slice: &Slice, cpu: Option<Duration>) -> f64 {
    cpu.map_or(0.0, |cpu| cpu.as_secs_f64() * 1e6) / count(slice.requests.max(1))
}

fn count(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Of sorted values, in hundredths.
fn quantile(sorted: &[u32], hundredths: usize) -> f64 {
    let place = sorted.len().saturating_sub(1) * hundredths / 100;
    sorted.get(place).copied().map_or(0.0, f64::from)
}
