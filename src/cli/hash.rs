//! `doorward hash calibrate`: what this machine can hash.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Failure, say};
use crate::service::admin::hashing;

/// Options of `hash`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  doorward hash calibrate              about ten seconds
  doorward hash calibrate --seconds 5  longer and steadier
  doorward hash calibrate --json")]
pub struct HashArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures Argon2id: sign-ins per second for each parameter set that OWASP lists as equally strong.
    Calibrate {
        /// Seconds for each set.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
        seconds: u64,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Measures.
///
/// # Errors
/// Never; other commands of this group may.
pub fn run(args: &HashArgs) -> Result<(), Failure> {
    let Command::Calibrate { seconds, json } = args.command;
    say::note("Measuring with all cores; leave the machine alone meanwhile.");
    let sets = hashing::calibrate(Duration::from_secs(seconds));
    if json {
        let rows: Vec<_> = sets
            .iter()
            .map(|set| {
                json!({
                    "memory_kib": set.memory_kib,
                    "iterations": set.iterations,
                    "parallelism": set.parallelism,
                    "workers": set.workers,
                    "per_hash_ms": set.per_hash.as_secs_f64() * 1000.0,
                    "logins_per_second": set.logins_per_second,
                })
            })
            .collect();
        say::data(&Value::from(rows).to_string());
        return Ok(());
    }
    say::data("memory_kib  iterations  parallelism  ms per hash  logins per second");
    for set in &sets {
        let millis = set.per_hash.as_secs_f64() * 1000.0;
        say::data(&format!(
            "{:>10}  {:>10}  {:>11}  {millis:>11.1}  {:>17.1}",
            set.memory_kib, set.iterations, set.parallelism, set.logins_per_second
        ));
    }
    say::note(
        "All are equally strong. Set one under password.argon2 in doorward.toml; hashes change at the next sign-in.",
    );
    Ok(())
}
