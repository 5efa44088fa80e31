//! Documentation that is made of the code is never stale.

use std::path::Path;

const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md");

#[test]
fn the_reference_of_settings_is_what_the_code_reads() {
    let made = doorward::config::reference();
    if std::env::var_os("DOORWARD_WRITE_DOCS").is_some() {
        std::fs::write(CONFIGURATION, &made).expect("docs/ can be written");
    }
    let kept = std::fs::read_to_string(CONFIGURATION).unwrap_or_default();
    assert!(kept == made, "docs/configuration.md is stale: run `make docs`");
}

const STANDARDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/standards.md");

/// The part of the source tree that a citation is about, and the rest of its path.
fn room_of(citation: &str) -> (&'static str, &str) {
    match citation.strip_prefix("domain::") {
        Some(rest) => ("src/domain", rest),
        None => ("tests/it", citation),
    }
}

/// The sources of a module and of those below it.
fn sources_of(room: &str, module: &str) -> Vec<String> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join(room).join(module.replace("::", "/"));
    let mut found = Vec::new();
    let mut folders = vec![base.clone()];
    found.extend(std::fs::read_to_string(base.with_extension("rs")));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                found.extend(std::fs::read_to_string(entry.path()));
            }
        }
    }
    found
}

/// The names of the tests in a source: functions that an attribute names as such.
fn tests_in(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            marked |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        } else if let Some((_, rest)) = line.split_once("fn ") {
            if marked {
                found.push(rest.split('(').next().unwrap_or_default());
            }
            marked = false;
        }
    }
    found
}

/// What stands between backticks and is a path of modules; `[::1]` is none.
fn citations(text: &str) -> Vec<&str> {
    let cited = text.split('`').skip(1).step_by(2);
    cited.filter(|cited| cited.contains("::") && cited.starts_with(|first: char| first.is_ascii_lowercase())).collect()
}

#[test]
fn every_test_that_the_standards_page_names_is_there() {
    let page = std::fs::read_to_string(STANDARDS).expect("docs/standards.md");
    let cited = citations(&page);
    assert!(cited.len() > 200, "only {} citations were found", cited.len());
    let mut faults = Vec::new();
    for citation in cited {
        let (room, path) = room_of(citation);
        let known = match path.strip_suffix("::") {
            _ if path == "…" => true, // the legend
            Some(module) => sources_of(room, module).iter().any(|source| !tests_in(source).is_empty()),
            None => path.rsplit_once("::").is_some_and(|(module, test)| {
                sources_of(room, module).iter().any(|source| tests_in(source).contains(&test))
            }),
        };
        if !known {
            faults.push(citation);
        }
    }
    assert!(faults.is_empty(), "docs/standards.md names tests that are not there: {faults:#?}");
}

#[test]
fn every_module_of_the_conformance_suite_that_is_a_test_is_on_the_standards_page() {
    let page = std::fs::read_to_string(STANDARDS).expect("docs/standards.md");
    let cited: Vec<&str> =
        citations(&page).iter().filter_map(|cited| cited.rsplit_once("::")).map(|(_, test)| test).collect();
    let all = sources_of("tests/it", "");
    let missing: Vec<&str> = all
        .iter()
        .flat_map(|source| tests_in(source))
        .filter(|test| test.starts_with("oidcc_") && !cited.contains(test))
        .collect();
    assert!(missing.is_empty(), "docs/standards.md does not list {missing:#?}");
}
