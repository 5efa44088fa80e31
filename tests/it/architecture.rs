//! Who may know whom, and how large things may be: `docs/developers.md` tells the rules in prose, this
//! table holds them. A new room needs a row; an exception needs a reason and may only shrink.

mod reading;
mod source;
mod tokens;

use std::collections::BTreeSet;
use std::path::Path;

use self::source::{Named, Source, sources, walk};

/// Rooms (folders or files of `src/`) and the rooms that each may name. What every room may name
/// stands in [`EVERYWHERE`]; `boot` wires and may name all.
const ROOMS: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    ("cli", &["boot", "service", "config"]),
    (
        "tasks",
        &[
            "service",
            "store",
            "cluster",
            "keys",
            "seal",
            "password",
            "federation",
            "outbound",
            "mail",
            "events",
            "observe",
        ],
    ),
    ("http", &["service", "observe", "store"]),
    (
        "service",
        &["store", "cluster", "keys", "seal", "password", "federation", "outbound", "mail", "events", "observe"],
    ),
    ("store", &["cluster", "seal", "observe"]),
    ("keys", &["store", "seal", "observe"]),
    ("events", &["store", "observe"]),
    ("federation", &["outbound", "observe"]),
    ("password", &["observe"]),
    ("cluster", &["observe"]),
    ("seal", &["observe"]),
    ("outbound", &["observe"]),
    ("mail", &["observe"]),
    ("observe", &[]),
    ("config", &[]),
    ("context", &[]),
    ("clock", &[]),
    ("entropy", &[]),
];

/// Pure or tiny: the rules, the time, chance, what a request knows about itself.
const EVERYWHERE: &[&str] = &["domain", "clock", "entropy", "context"];

/// The sections of the configuration that a room may name; `boot` and `cli` see all.
const SECTIONS: &[(&str, &[&str])] = &[
    ("store", &["database"]),
    ("cluster", &["redis"]),
    ("seal", &["master_key"]),
    ("password", &["password"]),
    ("outbound", &["outbound"]),
    ("mail", &["smtp"]),
    ("events", &["broker"]),
    ("observe", &["log", "management"]),
];

/// Crates that stay on one side of a border: the crate, the rooms that may name it.
const CRATES: &[(&str, &[&str])] = &[
    ("axum", &["http", "boot", "cli"]),
    ("askama", &["http"]),
    ("hyper", &["http", "boot", "cli", "outbound"]),
    ("tower", &["http", "boot"]),
    ("tower_sessions", &["http"]),
    ("sea_orm", &["store"]),
    ("sqlx", &["store"]),
    ("doorward_migrations", &["store"]),
    ("doorward_argon2id", &["password"]),
    ("redis", &["cluster", "store"]),
    ("lapin", &["events"]),
    ("lettre", &["mail"]),
    ("clap", &["cli", "main"]),
];

/// Folders whose files do not know each other: the folder, the files that all may name, the files
/// that may name all (the folder's own `mod.rs` always may).
const SIBLINGS: &[(&str, &[&str], &[&str])] = &[
    ("domain::protocol::authorize", &["request"], &["table"]),
    ("domain::protocol::token", &[], &[]),
    ("service::token", &["mint"], &[]),
    ("service::signin", &["engine"], &["engine"]),
    ("service::account", &[], &[]),
    ("service::admin", &[], &[]),
    ("federation", &["provider", "handshake"], &["registry"]),
    ("http::oidc", &[], &[]),
    ("http::signin", &[], &[]),
    ("http::federation", &[], &[]),
    ("http::account", &[], &[]),
    ("http::console", &[], &[]),
    ("http::scim", &[], &[]),
    ("http::demo", &[], &[]),
    ("http::management", &[], &[]),
    ("tasks", &[], &[]),
    ("cli", &[], &[]),
];

/// Names that say nothing (rule 7).
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc", "types", "prelude"];

/// What a pure member may not depend on.
const IMPURE: &[&str] = &[
    "axum",
    "sea-orm",
    "sea-orm-migration",
    "sqlx",
    "tokio",
    "redis",
    "hyper",
    "hyper-util",
    "reqwest",
    "lapin",
    "lettre",
    "tower",
    "askama",
    "openidconnect",
    "rand",
    "getrandom",
];

const LINES_PER_FILE: usize = 400;
const LINES_PER_FUNCTION: usize = 60;
const PARAMETERS: usize = 5;

/// Files over the limit with the lines they have; may only shrink. Split by meaning instead.
const LONG_FILES: &[(&str, usize)] = &[];

/// Functions over a limit, `path::name`, and why they read better whole; may only shrink.
const LONG_FUNCTIONS: &[(&str, &str)] = &[];

#[test]
fn each_room_names_only_rooms_it_may_know() {
    let mut faults = BTreeSet::new();
    for source in &sources("src") {
        let room = room(source);
        if room == "boot" || room == "lib" || room == "domain" || room == "argon2id" {
            continue;
        }
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            faults.insert(format!("{}: the room `{room}` has no row in ROOMS", source.path));
            continue;
        };
        for named in ours(source) {
            let Some(other) = named.first().map(String::as_str) else { continue };
            let known = ROOMS.iter().any(|(name, _)| *name == other) || EVERYWHERE.contains(&other) || other == "boot";
            let fine = other == room
                || EVERYWHERE.contains(&other)
                || allowed.contains(&other)
                || (other == "config" && section_allowed(room, &named))
                || !known; // a re-export of lib.rs, or an item of the root
            if !fine {
                faults.insert(format!("{}: `{room}` may not know `{}`", source.path, named.join("::")));
            }
        }
    }
    report(&faults);
}

#[test]
fn the_members_know_nothing_of_the_product() {
    let mut faults = BTreeSet::new();
    for (manifest, pure) in
        [("src/domain/Cargo.toml", true), ("src/argon2id/Cargo.toml", true), ("migrations/Cargo.toml", false)]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let parsed: toml::Table = text.parse().expect("a manifest");
        let dependencies = parsed.get("dependencies").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        for name in dependencies.keys() {
            if name.starts_with("doorward") || (pure && IMPURE.contains(&name.as_str())) {
                faults.insert(format!("{manifest}: depends on {name}"));
            }
        }
    }
    for source in sources("src/domain").iter().chain(&sources("migrations")) {
        if source.has(&["doorward", "::"])
            || (source.path.starts_with("migrations") && source.has(&["doorward_domain"]))
        {
            faults.insert(format!("{}: names the product", source.path));
        }
    }
    report(&faults);
}

#[test]
fn crates_stay_behind_their_border() {
    let mut faults = BTreeSet::new();
    for source in &sources("src") {
        for named in source.names() {
            let Named::Other(path) = named else { continue };
            let Some((name, rooms)) = CRATES.iter().find(|(name, _)| path.first().is_some_and(|first| first == name))
            else {
                continue;
            };
            if !rooms.contains(&room(source)) {
                faults.insert(format!("{}: `{name}` belongs to {}", source.path, rooms.join(", ")));
            }
        }
        // The word is also a room's name, so only the crate's own types tell.
        if room(source) == "service"
            && (source.has(&["http", "::", "StatusCode"]) || source.has(&["http", "::", "HeaderMap"]))
        {
            faults.insert(format!("{}: use cases have no HTTP types", source.path));
        }
    }
    report(&faults);
}

#[test]
fn every_write_goes_through_service() {
    let mut faults = BTreeSet::new();
    for source in sources("src").iter().filter(|source| room(source) == "http") {
        for call in ["begin", "batch", "write"] {
            if source.has(&["store", ".", call, "("]) || source.has(&["store", "(", ")", ".", call, "("]) {
                faults.insert(format!(
                    "{}: `store.{call}(…)`: a write carries audit, event and invalidation",
                    source.path
                ));
            }
        }
        for named in ours(source) {
            let inside: Vec<&str> = named.iter().map(String::as_str).collect();
            let writes = match inside.as_slice() {
                ["store", "batch" | "entity" | "Tx", ..] => true,
                ["store", "repo", _, function, ..] => !is_reader(function),
                _ => false,
            };
            if writes {
                faults.insert(format!("{}: names `{}`, which writes", source.path, named.join("::")));
            }
        }
    }
    for source in sources("src").iter().filter(|source| room(source) != "store") {
        if ours(source).iter().any(|named| named.len() > 1 && named[0] == "store" && named[1] == "entity") {
            faults.insert(format!("{}: entities are private to the store", source.path));
        }
    }
    report(&faults);
}

#[test]
fn siblings_do_not_know_each_other() {
    let all = sources("src");
    let modules: BTreeSet<Vec<String>> = all.iter().map(|source| source.module.clone()).collect();
    let mut faults = BTreeSet::new();
    for source in &all {
        for (folder, shared, hubs) in SIBLINGS {
            let folder: Vec<&str> = folder.split("::").collect();
            let Some(own) = child(&source.module, &folder) else { continue };
            if hubs.contains(&own) {
                continue;
            }
            for named in ours(source) {
                let Some(other) = child(&named, &folder) else { continue };
                let mut file: Vec<String> = folder.iter().map(|part| (*part).to_owned()).collect();
                file.push(other.to_owned());
                if modules.contains(&file) && other != own && !shared.contains(&other) {
                    faults.insert(format!("{}: `{own}` knows its sibling `{other}`", source.path));
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn no_room_has_an_empty_name() {
    let mut faults = BTreeSet::new();
    for folder in ["src", "tests", "migrations", "templates", "static"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        if !path.is_dir() {
            continue;
        }
        walk(&path, &mut |file| {
            let inside = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("below the root").with_extension("");
            for part in &inside {
                if EMPTY_NAMES.contains(&part.to_string_lossy().as_ref()) {
                    faults.insert(format!("{}: a name that says nothing", inside.display()));
                }
            }
        });
    }
    report(&faults);
}

#[test]
fn files_open_with_what_they_are_and_stay_short() {
    let mut faults = BTreeSet::new();
    for source in &everything() {
        if !source.text.starts_with("//!") {
            faults.insert(format!("{}: opens without `//!`", source.path));
        }
        let recorded = LONG_FILES.iter().find(|(path, _)| *path == source.path);
        match (source.lines(), recorded) {
            (lines, None) if lines > LINES_PER_FILE => {
                faults.insert(format!("{}: {lines} lines, {LINES_PER_FILE} are allowed", source.path));
            }
            (lines, Some((_, most))) if lines > *most || lines <= LINES_PER_FILE => {
                faults.insert(format!(
                    "{}: {lines} lines, LONG_FILES says {most}: the list may only shrink",
                    source.path
                ));
            }
            _ => {}
        }
    }
    for (path, _) in LONG_FILES {
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists() {
            faults.insert(format!("{path}: in LONG_FILES, but gone"));
        }
    }
    report(&faults);
}

#[test]
fn functions_stay_short_and_take_few_parameters() {
    let mut faults = BTreeSet::new();
    let mut used = BTreeSet::new();
    for source in sources("src").iter().chain(&sources("migrations")) {
        for function in source.functions() {
            if function.lines <= LINES_PER_FUNCTION && function.parameters <= PARAMETERS {
                continue;
            }
            let name = format!("{}::{}", source.path, function.name);
            if LONG_FUNCTIONS.iter().any(|(listed, _)| *listed == name) {
                used.insert(name);
                continue;
            }
            faults.insert(format!(
                "{}:{}: `{}` has {} lines ({LINES_PER_FUNCTION} are allowed) and {} parameters ({PARAMETERS})",
                source.path, function.line, function.name, function.lines, function.parameters
            ));
        }
    }
    for (name, _) in LONG_FUNCTIONS.iter().filter(|(name, _)| !used.contains(*name)) {
        faults.insert(format!("{name}: in LONG_FUNCTIONS, but within the limits or gone"));
    }
    report(&faults);
}

fn report(faults: &BTreeSet<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.iter().cloned().collect::<Vec<_>>().join("\n"));
}

fn everything() -> Vec<Source> {
    let mut all = sources("src");
    all.extend(sources("migrations"));
    all.extend(sources("tests"));
    all
}

fn room(source: &Source) -> &str {
    match source.path.as_str() {
        "src/main.rs" => "main",
        "src/lib.rs" => "lib",
        _ => source.module.first().map_or("", String::as_str),
    }
}

fn ours(source: &Source) -> Vec<Vec<String>> {
    source
        .names()
        .into_iter()
        .filter_map(|named| match named {
            Named::Ours(path) => Some(path),
            Named::Other(_) => None,
        })
        .collect()
}

fn section_allowed(room: &str, named: &[String]) -> bool {
    let sections = SECTIONS.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, sections)| sections);
    named.get(1).is_some_and(|section| sections.contains(&section.as_str()))
}

fn is_reader(function: &str) -> bool {
    ["find", "list", "get", "had", "has", "is", "count", "effective"]
        .iter()
        .any(|verb| function == *verb || function.starts_with(&format!("{verb}_")))
}

/// The part of a module's path right below the folder.
fn child<'a>(module: &'a [String], folder: &[&str]) -> Option<&'a str> {
    let inside = module.len() > folder.len() && module.iter().zip(folder).all(|(part, of)| part == of);
    inside.then(|| module[folder.len()].as_str())
}
