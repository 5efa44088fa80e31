//! The table: who may know whom, and how large things may be. A new room needs a row; an exception needs
//! a reason, and the lists of exceptions may only shrink.

/// Rooms (folders or files of `src/`) and the rooms that each may name. What every room may name
/// stands in [`EVERYWHERE`]; `boot` wires and may name all.
pub(super) const ROOMS: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    // `migrate` works on the store before there is an App.
    ("cli", &["boot", "service", "config", "store"]),
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
    // App holds the configuration as one of its handles.
    (
        "service",
        &[
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
            "config",
        ],
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
pub(super) const EVERYWHERE: &[&str] = &["domain", "clock", "entropy", "context"];

/// The sections of the configuration that a room may name.
pub(super) const SECTIONS: &[(&str, &[&str])] = &[
    ("store", &["database"]),
    ("cluster", &["redis"]),
    ("seal", &["master_key"]),
    ("password", &["password"]),
    ("outbound", &["outbound", "network"]),
    ("mail", &["smtp"]),
    ("events", &["broker"]),
    // `Format` and `Level` are types of the section `log`.
    ("observe", &["log", "format", "level", "management"]),
    // Whose forwarded headers count.
    ("http", &["network", "limits"]),
];

/// Edges that the rules do not allow: the file, the room it names, why.
pub(super) const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("src/http/demo/state.rs", "seal", "the demo is an application of its own, which seals its own cookie")];

/// Crates that stay on one side of a border: the crate, the rooms that may name it.
pub(super) const CRATES: &[(&str, &[&str])] = &[
    ("axum", &["http", "boot", "cli"]),
    ("askama", &["http"]),
    ("hyper", &["http", "boot", "cli", "outbound"]),
    ("tower", &["http", "boot"]),
    // Flow state rides on its records and store traits; cookies and layers are ours, in http.
    ("tower_sessions", &["http", "service"]),
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
pub(super) const SIBLINGS: &[(&str, &[&str], &[&str])] = &[
    // What a refusal answers is read from the same parameters that the two others check.
    ("domain::protocol::authorize", &["table", "request", "example", "request_object", "response_mode"], &["table"]),
    ("domain::protocol::token", &["scope", "resource"], &[]),
    ("service::token", &["mint", "answer", "facts", "presenter", "refresh_text", "inspect"], &[]),
    ("service::signin", &["engine", "flow", "form"], &["engine"]),
    ("service::account", &[], &[]),
    ("service::admin", &[], &[]),
    ("federation", &["provider", "handshake"], &["registry"]),
    ("http::oidc", &[], &[]),
    ("http::signin", &[], &[]),
    ("http::federation", &[], &[]),
    ("http::account", &[], &[]),
    ("http::console", &[], &[]),
    ("http::scim", &[], &[]),
    // One small application: its steps show the same page.
    ("http::demo", &["relying_party", "state", "home"], &[]),
    ("http::management", &[], &[]),
    ("tasks", &[], &[]),
    ("cli", &["say", "pick"], &[]),
];

/// Names that say nothing (rule 7).
pub(super) const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc", "types", "prelude"];

/// What a pure member may not depend on.
pub(super) const IMPURE: &[&str] = &[
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

pub(super) const LINES_PER_FILE: usize = 400;
pub(super) const LINES_PER_FUNCTION: usize = 60;
pub(super) const PARAMETERS: usize = 5;

/// Files over the limit with the lines they have. Split by meaning instead.
pub(super) const LONG_FILES: &[(&str, usize)] = &[];

/// Functions over a limit, `path::name`, and why they read better whole.
pub(super) const LONG_FUNCTIONS: &[(&str, &str)] = &[];
