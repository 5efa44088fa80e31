//! Documentation that is made of the code is never stale.

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
