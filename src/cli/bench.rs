//! `doorward bench`: what a request costs, on an embedded store and, where one is named, on PostgreSQL.
//! The product runs as a process of its own, so that the operating system tells its processor time apart
//! from the generator's; each figure stands beside a bare axum route with a body of equal size, measured
//! in turns in the same run (`performance.md` 3 and 4). Nothing of a real installation is touched: data,
//! ports and keys are its own and go away.

mod bare;
mod connection;
mod generator;
mod person;
mod report;
mod server;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use self::generator::Slice;
use self::report::{Row, Table};
use self::server::{Bare, Product};
use self::workload::{Kind, State};
use super::{Failure, say};

/// Options of `bench`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  doorward bench                                            on an embedded store
  doorward bench --database postgres://…/empty --seconds 5   on an empty PostgreSQL database too
  doorward bench --only refresh --rounds 5                   one request, more turns

Build with --release first, or use `make bench`: other builds measure the compiler.")]
pub struct BenchArgs {
    /// An empty PostgreSQL database to measure as well.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Process id of that PostgreSQL's server, when it runs here: its processor time is told too.
    #[arg(long, value_name = "PID", requires = "database")]
    database_pid: Option<u32>,
    /// Seconds of each turn; every request and its bare twin has one a round.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Rounds; the medians are told.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=20))]
    rounds: u64,
    /// Connections that are kept alive, each with one request under way.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=256))]
    connections: u64,
    /// Only these: discovery, client_credentials, refresh, userinfo, introspect.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// A folder for the tables, one Markdown file for each store.
    #[arg(long, value_name = "FOLDER")]
    results: Option<PathBuf>,
    /// Serves bare routes on this port; what `bench` starts beside the product.
    #[arg(long, value_name = "PORT", hide = true)]
    bare_server: Option<u16>,
}

/// Measures, prints a table, and writes it where asked.
///
/// # Errors
/// When something did not start or answered wrongly; the text says what.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    if let Some(port) = args.bare_server {
        return bare::serve(port).map_err(Failure::Internal);
    }
    if cfg!(debug_assertions) {
        say::note("This is a debug build: the figures tell nothing. Use `make bench`.");
    }
    let kinds = wanted(&args.only)?;
    for (name, database) in [("embedded", None), ("postgres", args.database.as_deref())] {
        if name == "postgres" && database.is_none() {
            continue;
        }
        let table = measure(args, &kinds, name, database).map_err(Failure::Other)?;
        say::data(&table.text());
        if let Some(folder) = &args.results {
            let file = folder.join(format!("{name}.md"));
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&file, table.markdown()))
                .map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?;
            say::note(&format!("written: {}", file.display()));
        }
    }
    Ok(())
}

fn wanted(only: &[String]) -> Result<Vec<Kind>, Failure> {
    if only.is_empty() {
        return Ok(Kind::ALL.to_vec());
    }
    only.iter()
        .map(|name| {
            Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
                let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                Failure::Usage(format!("--only {name}: one of {}", names.join(", ")))
            })
        })
        .collect()
}

fn measure(args: &BenchArgs, kinds: &[Kind], store: &str, database: Option<&str>) -> Result<Table, String> {
    say::note(&format!("starting the product on the {store} store …"));
    let product = Product::start(database)?;
    let bare = Bare::start()?;
    let idle_memory = product.resident_mib();
    let signature = report::signature_cost()?;
    let mut rows = Vec::new();
    for kind in kinds {
        say::note(&format!("measuring {} …", kind.name()));
        let body = workload::prepare_size(*kind, &product)?;
        let mut ours = workload::prepare(*kind, &product, args.connections)?;
        let mut twins: Vec<State> = (0..args.connections).map(|_| State::bare(bare.port, body)).collect();
        let (mut measured, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..args.rounds {
            beside.push(turn(&mut twins, args, &|| bare.cpu(), &|| None)?);
            let database_cpu = || args.database_pid.filter(|_| database.is_some()).and_then(server::family_cpu);
            measured.push(turn(&mut ours, args, &|| product.cpu(), &database_cpu)?);
        }
        rows.push(Row { kind: *kind, body, measured, beside });
    }
    Ok(Table {
        store: store.to_owned(),
        connections: args.connections,
        seconds: args.seconds,
        signature,
        idle_memory,
        loaded_memory: product.resident_mib(),
        rows,
    })
}

/// One turn: a second to warm up, then the measured seconds.
fn turn(
    states: &mut Vec<State>,
    args: &BenchArgs,
    cpu: &dyn Fn() -> Option<Duration>,
    database_cpu: &dyn Fn() -> Option<Duration>,
) -> Result<Slice, String> {
    let slice = generator::run(states, Duration::from_secs(1), Duration::from_secs(args.seconds), cpu, database_cpu)?;
    match &slice.first_error {
        Some(error) if slice.errors * 100 > slice.requests => {
            Err(format!("more than one in a hundred failed: {error}"))
        }
        _ => Ok(slice),
    }
}
