//! Examples of a command's parts. They are written once, at the command: the `--help` of a part shows
//! those lines that call it.

use clap::Command;

/// Hands each command's examples down to the parts that they call.
#[must_use]
pub fn handed_down(program: Command) -> Command {
    program.mut_subcommands(|command| {
        let lines: Vec<String> = command
            .get_after_help()
            .map(|help| help.to_string().lines().map(str::to_owned).collect())
            .unwrap_or_default();
        let name = command.get_name().to_owned();
        command.mut_subcommands(|part| {
            let call = format!("doorward {name} {}", part.get_name());
            let own: Vec<&str> = lines.iter().map(String::as_str).filter(|line| calls(line, &call)).collect();
            if own.is_empty() { part } else { part.after_help(format!("Examples:\n{}", own.join("\n"))) }
        })
    })
}

/// `session end` is not called by `session end-all`.
fn calls(line: &str, call: &str) -> bool {
    line.split_once(call).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '))
}
