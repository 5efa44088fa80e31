//! Words for the person at the terminal, and data for scripts. The only place that prints.

use std::io::{IsTerminal, Write};

/// A message for people, on stderr.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A problem, on stderr.
pub fn problem(text: &str) {
    let mark = if std::io::stderr().is_terminal() { "\u{1b}[31merror\u{1b}[0m" } else { "error" };
    let _ = writeln!(std::io::stderr(), "{mark}: {text}");
}

/// Data, on stdout. A reader that has gone away (`| head`) is no fault.
pub fn data(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Whether a person reads stderr.
#[must_use]
pub fn person_reads() -> bool {
    std::io::stderr().is_terminal()
}
