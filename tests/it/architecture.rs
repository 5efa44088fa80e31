//! Who may know whom, and how large things may be: `docs/developers.md` tells the rules in prose,
//! `table.rs` holds them, this file asks every source.

mod reading;
mod source;
mod table;
mod tokens;

use std::collections::BTreeSet;
use std::path::Path;

use self::source::{Named, Source, sources, walk};
use self::table::{
    CRATES, EMPTY_NAMES, EVERYWHERE, EXCEPTIONS, IMPURE, LINES_PER_FILE, LINES_PER_FUNCTION, LONG_FILES,
    LONG_FUNCTIONS, PARAMETERS, ROOMS, SECTIONS, SIBLINGS,
};

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
                || EXCEPTIONS.iter().any(|(path, to, _)| *path == source.path && *to == other)
                || !known; // a re-export of lib.rs, or an item of the root
            if !fine {
                faults.insert(format!("{}: `{room}` may not know `{}`", source.path, named.join("::")));
            }
        }
    }
    for (path, to, _) in EXCEPTIONS {
        let used = sources("src").iter().any(|source| {
            source.path == *path && ours(source).iter().any(|named| named.first().is_some_and(|first| first == to))
        });
        if !used {
            faults.insert(format!("{path}: in EXCEPTIONS for `{to}`, but does not name it"));
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
            let Some(own) = child(&source.module, &folder).filter(|_| !is_test(source)) else { continue };
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
        if is_test(source) {
            continue;
        }
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
    // `use crate::config;` alone names nothing; what is read through it does. A section's type has its
    // file's name in capitals.
    named.get(1).is_none_or(|section| sections.contains(&section.to_lowercase().as_str())) && !sections.is_empty()
}

/// Tests that stand beside the rules they are about.
fn is_test(source: &Source) -> bool {
    source.module.iter().any(|part| part == "tests")
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
