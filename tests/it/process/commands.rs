//! Help, exit statuses, `migrate`, `hash calibrate`, `doctor`.

use serde_json::Value;

use crate::kit::db::on_postgres;
use crate::kit::process::{Doorward, MASTER_KEY, Refused, free_ports};

/// The names that a help text lists.
fn commands_in(help: &str) -> Vec<&str> {
    help.lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        // Names stand two columns in; what is further in goes on with a description.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect()
}

#[tokio::test]
async fn every_command_has_help_with_examples() {
    let server = Doorward::unmigrated("").await;
    let help = server.plain_ok(&["help"]);
    let commands = commands_in(&help);
    for name in ["serve", "migrate", "apply", "export", "user", "client", "session", "key", "hash", "doctor"] {
        assert!(commands.contains(&name), "{name} in:\n{help}");
    }
    for name in commands {
        let text = server.plain_ok(&[name, "--help"]);
        let examples = text.split("Examples:").nth(1).unwrap_or_else(|| panic!("no examples:\n{text}"));
        assert!(examples.contains(&format!("doorward {name}")), "{text}");
        assert_eq!(server.plain_ok(&["help", name]).split("Examples:").nth(1), Some(examples), "{name}");
        for part in commands_in(&text) {
            let text = server.plain_ok(&[name, part, "--help"]);
            let examples = text.split("Examples:").nth(1).unwrap_or_else(|| panic!("{name} {part}:\n{text}"));
            let call = format!("doorward {name} {part}");
            for line in examples.lines().filter(|line| line.contains("doorward ")) {
                let rest = line.split_once(&call).unwrap_or_else(|| panic!("{call}: {line}")).1;
                assert!(rest.is_empty() || rest.starts_with(' '), "an example of something else: {line}");
            }
        }
    }
    assert!(!server.data_dir().exists(), "help touches nothing");
}

#[tokio::test]
async fn exit_statuses_are_those_of_the_contract() {
    let mut server = Doorward::prepare().await;
    server.apply(crate::kit::op::REALM);
    let status = |server: &Doorward, arguments: &[&str]| server.command(arguments).status.code();
    assert_eq!(status(&server, &["user", "list"]), Some(0));
    assert_eq!(status(&server, &["--version"]), Some(0));
    assert_eq!(status(&server, &["user", "show", "nobody"]), Some(1));
    for wrong in [
        &["guess"][..],
        &["serve", "--guess"],
        &["apply"],
        &["user", "create"],
        &["hash", "calibrate", "--seconds", "0"],
    ] {
        let refused = Refused::read(&server.command(wrong));
        assert_eq!(refused.status, Some(2), "{wrong:?}: {}", refused.said);
    }
    server.set("DOORWARD_LOG__LEVEL", "loud");
    Refused::read(&server.command(&["user", "list"])).says(78, &["log.level", "`error`"]);
    server.set("DOORWARD_LOG__LEVEL", "");

    // A fault of ours: a row that cannot be what its table holds. No text of the database is shown.
    server.db().run("update user_account set claims = 'planted' where username = 'alice'").await;
    let refused = Refused::read(&server.command(&["user", "show", "alice"]));
    refused.says(70, &["user_account", "cannot be read"]);
    assert!(!refused.said.contains("planted"), "{}", refused.said);
}

#[tokio::test]
async fn migrations_are_listed_applied_once_and_needed() {
    let server = Doorward::unmigrated("").await;
    if !on_postgres() {
        // What an editor or a restore may leave: a file without a table.
        std::fs::File::create(server.folder().join("doorward.db")).expect("a file");
        let pending = server.command_ok(&["migrate", "status"]);
        assert!(pending.lines().count() > 5 && pending.lines().all(|line| line.starts_with("pending  ")), "{pending}");
        let applied = server.command(&["migrate"]);
        assert_eq!(String::from_utf8_lossy(&applied.stdout).lines().count(), pending.lines().count());
    }
    let again = Refused::read(&server.command(&["migrate"]));
    again.says(0, &["0 migrations applied"]);
    let status: Value = serde_json::from_str(&server.command_ok(&["migrate", "status", "--json"])).expect("JSON");
    assert!(status.as_array().expect("a list").iter().all(|row| row["applied"] == true), "{status}");
    if on_postgres() {
        // As if a newer program met an older database: only `migrate` or a setting changes a schema there.
        server.db().run("delete from migration where version = (select max(version) from migration)").await;
        server.refused(&[]).says(78, &["lacks 1 schema migration", "doorward migrate", "database.auto_migrate"]);
    }
}

#[tokio::test]
async fn calibration_measures_each_parameter_set_that_owasp_lists() {
    let server = Doorward::unmigrated("").await;
    let text = server.command_ok(&["hash", "calibrate", "--seconds", "1", "--json"]);
    let rows: Value = serde_json::from_str(&text).expect("JSON");
    let sets: Vec<(u64, u64, u64)> = rows
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| {
            assert!(row["logins_per_second"].as_f64().expect("a number") > 0.0, "{row}");
            let number = |name: &str| row[name].as_u64().expect("a number");
            (number("memory_kib"), number("iterations"), number("parallelism"))
        })
        .collect();
    assert_eq!(sets, [(47_104, 1, 1), (19_456, 2, 1), (12_288, 3, 1), (9216, 4, 1), (7168, 5, 1)]);
}

#[tokio::test]
async fn the_doctor_finds_all_well_and_says_how_to_mend_what_is_not() {
    let mut server = Doorward::running().await;
    let well = server.command_ok(&["doctor"]);
    for check in ["configuration", "public_url", "database", "master key", "clock", "keys of main"] {
        assert!(
            well.lines().any(|line| line.starts_with("ok ") && line.contains(check)) || check == "public_url",
            "{check} in:\n{well}"
        );
    }
    assert!(
        well.contains("administrator: there never was one") && well.contains("mend: doorward user make-admin"),
        "{well}"
    );
    let rows: Value = serde_json::from_str(&server.command_ok(&["doctor", "--json"])).expect("JSON");
    assert!(rows.as_array().expect("a list").iter().all(|row| row["found"] != "bad"), "{rows}");

    server.set("DOORWARD_MASTER_KEY", "YW5vdGhlciBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyE=");
    Refused::read(&server.command(&["doctor"])).says(1, &["BAD  master key", "not the one", "1 of"]);
    let [closed] = free_ports();
    server.set("DOORWARD_MASTER_KEY", MASTER_KEY);
    server.set("DOORWARD_DATABASE__URL", &format!("postgres://doorward:planted-secret@127.0.0.1:{closed}/doorward"));
    let refused = Refused::read(&server.command(&["doctor"]));
    refused.says(1, &["BAD  database", "mend: Start it, or mend database.url"]);
    assert!(!refused.said.contains("planted-secret"));
}

#[tokio::test]
async fn a_command_that_only_looks_makes_no_database_where_a_path_is_mistyped() {
    let server = Doorward::embedded().await;
    for arguments in [
        &["user", "list"][..],
        &["user", "create", "alice"],
        &["client", "list"],
        &["session", "list", "--user", "alice"],
        &["key", "list"],
        &["export"],
        &["migrate", "status"],
    ] {
        Refused::read(&server.command(arguments)).says(78, &["there is no database", "doorward.db", "data_dir"]);
    }
    let output = server.command(&["doctor"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("BAD  database: there is no database"), "{said}");
    assert!(!server.data_dir().exists(), "nothing was made");
    server.command_ok(&["migrate"]);
    server.command_ok(&["migrate", "status"]);
}
