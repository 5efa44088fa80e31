//! Relying parties built on libraries of others. Each is a folder of scripts in `tests/peers/`; `.ci/peers` puts what
//! they need below the target folder. A script reads what it is given as JSON and prints what it saw as JSON.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::process::finish;
use super::webdriver::find_program;

/// Where `.ci/peers` has installed this peer. A peer that is missing is a failure, never a pass unseen.
pub(crate) fn installed(peer: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    let folder = target.join("peers").join(peer);
    assert!(folder.is_dir(), "{peer} is missing: run `.ci/prerequisites test`, or `.ci/peers {peer}` alone");
    folder
}

/// What belongs to this peer in the repository.
pub(crate) fn scripts(peer: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(peer)
}

/// Runs a script with Node. It is copied beside its modules, since imports are looked up from where a script lies.
pub(crate) fn node(peer: &str, script: &str, given: &Value) -> Value {
    let folder = tempfile::Builder::new().prefix("run-").tempdir_in(installed(peer)).expect("a folder");
    for file in std::fs::read_dir(scripts(peer)).expect("the peer's folder") {
        let file = file.expect("a file");
        if file.path().extension().is_some_and(|extension| extension == "mjs") {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("a copy");
        }
    }
    let mut command = Command::new(find_program("node").expect("node"));
    command.arg(folder.path().join(script));
    told(command, script, given)
}

/// Runs a script with the peer's own Python.
pub(crate) fn python(peer: &str, script: &str, given: &Value) -> Value {
    let mut command = Command::new(installed(peer).join("bin/python"));
    // `-B`: nothing is written into the repository.
    command.arg("-B").arg(scripts(peer).join(script));
    told(command, script, given)
}

fn told(command: Command, script: &str, given: &Value) -> Value {
    let output = finish(command, &given.to_string());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {}\n{said}", output.status);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{script}: {error} in {}\n{said}", String::from_utf8_lossy(&output.stdout)))
}
