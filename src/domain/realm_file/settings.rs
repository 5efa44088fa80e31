//! `settings:` of a realm file, each with its range.

use super::clients::Crossed;
use super::fields::{Field, Form};
use super::text as check;
use crate::model::key::Algorithm;
use crate::model::realm::RealmSettings;
use crate::model::span::Span;

const ALGORITHMS: &[&str] = &["RS256", "PS256", "ES256", "EdDSA"];
/// Languages of the message catalogue.
pub(super) const LANGUAGES: &[&str] = &["en", "de"];

const SECOND: Span = Span::secs(1);
const DECADE: Span = Span::days(3_650);

const REGISTRATION: &[Field] = &[Field::new("enabled", Form::Bool)];
const PASSWORD_POLICY: &[Field] = &[Field::new("min_length", Form::Whole(8, 256))];
const SESSIONS: &[Field] = &[
    Field::new("idle", Form::Span(Span::mins(1), DECADE)),
    Field::new("absolute", Form::Span(Span::mins(1), DECADE)),
    Field::new("remember_me", Form::Span(Span::secs(0), DECADE)),
];
const TOKENS: &[Field] = &[
    Field::new("code", Form::Span(SECOND, Span::secs(60))),
    Field::new("access", Form::Span(SECOND, Span::hours(1))),
    Field::new("id_token", Form::Span(SECOND, Span::hours(24))),
    Field::new("refresh_idle", Form::Span(SECOND, DECADE)),
    Field::new("refresh_absolute", Form::Span(SECOND, DECADE)),
    Field::new("refresh_reuse_grace", Form::Span(Span::secs(0), Span::secs(30))),
];
const KEYS: &[Field] = &[
    Field::new("algorithms", Form::Each(algorithm, 4)),
    Field::new("rsa_bits", Form::Number(&[2048, 3072, 4096])),
    Field::new("announce", Form::Span(Span::secs(60), DECADE)),
    Field::new("active", Form::Span(Span::hours(1), DECADE)),
    Field::new("access_token_alg", Form::Word(ALGORITHMS)),
    Field::new("id_token_alg", Form::Word(ALGORITHMS)),
];
const CLIENTS: &[Field] = &[Field::new("require_pkce", Form::Bool), Field::new("front_channel_tokens", Form::Bool)];
const CLIENT_REGISTRATION: &[Field] = &[
    Field::new("enabled", Form::Bool),
    Field::new("require_initial_access_token", Form::Bool),
    Field::new("allowed_redirect_hosts", Form::Each(check::host, 100)),
    Field::new("scope", Form::Checked(check::scope)),
    Field::new("resources", Form::Each(check::resource, 100)),
    Field::new("max_clients", Form::Whole(1, 1_000_000)),
    Field::new("rate_per_hour", Form::Whole(1, 100_000)),
    Field::new("unused_for", Form::Span(Span::mins(10), DECADE)),
    Field::new("idle_for", Form::Span(Span::days(1), DECADE)),
    Field::new("redirect_errors", Form::Bool),
];
const LOGOUT: &[Field] = &[Field::new("front_channel", Form::Bool), Field::new("session_management", Form::Bool)];
const LOCALES: &[Field] =
    &[Field::new("supported", Form::Each(language, 20)), Field::new("default", Form::Checked(check::language))];

/// The fields of `settings:`.
pub(super) const TABLE: &[Field] = &[
    Field::new("registration", Form::Map(REGISTRATION)),
    Field::new("password_policy", Form::Map(PASSWORD_POLICY)),
    Field::new("sessions", Form::Map(SESSIONS)),
    Field::new("tokens", Form::Map(TOKENS)),
    Field::new("keys", Form::Map(KEYS)),
    Field::new("clients", Form::Map(CLIENTS)),
    Field::new("client_registration", Form::Map(CLIENT_REGISTRATION)),
    Field::new("locales", Form::Map(LOCALES)),
    Field::new("logout", Form::Map(LOGOUT)),
];

fn algorithm(text: &str) -> Result<String, String> {
    match Algorithm::from_name(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("{} is not supported; allowed are {}", super::fault::shown(text), ALGORITHMS.join(", "))),
    }
}

fn language(text: &str) -> Result<String, String> {
    if LANGUAGES.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!("there are no texts in {}; allowed are {}", super::fault::shown(text), LANGUAGES.join(", ")))
    }
}

/// What is wrong with the settings taken together.
pub(super) fn crossed(settings: &RealmSettings) -> Vec<Crossed> {
    let mut list = Vec::new();
    let mut wrong = |wrong: bool, fields: &'static [&'static str], message: String| {
        if wrong {
            list.push(Crossed::new(fields, message));
        }
    };
    let keys = &settings.keys;
    let has = |alg: Algorithm| keys.algorithms.contains(&alg);
    wrong(settings.registration.enabled, &["settings.registration.enabled"], "sign-up is not built yet".to_owned());
    wrong(
        settings.sessions.idle > settings.sessions.absolute,
        &["settings.sessions.idle", "settings.sessions.absolute"],
        format!("idle ({}) is longer than absolute ({})", settings.sessions.idle, settings.sessions.absolute),
    );
    wrong(
        settings.client_registration.scope.is_empty(),
        &["settings.client_registration.scope"],
        "empty: a client without any scope can ask for nothing".to_owned(),
    );
    wrong(
        settings.tokens.refresh_idle > settings.tokens.refresh_absolute,
        &["settings.tokens.refresh_idle", "settings.tokens.refresh_absolute"],
        format!(
            "refresh_idle ({}) is longer than refresh_absolute ({})",
            settings.tokens.refresh_idle, settings.tokens.refresh_absolute
        ),
    );
    wrong(
        !has(Algorithm::RS256),
        &["settings.keys.algorithms"],
        "RS256 must be among them (OpenID Connect Core 15.1)".to_owned(),
    );
    wrong(
        !has(keys.access_token_alg),
        &["settings.keys.access_token_alg", "settings.keys.algorithms"],
        format!("{} is not among keys.algorithms", keys.access_token_alg.as_str()),
    );
    wrong(
        !has(keys.id_token_alg),
        &["settings.keys.id_token_alg", "settings.keys.algorithms"],
        format!("{} is not among keys.algorithms", keys.id_token_alg.as_str()),
    );
    wrong(
        keys.announce > keys.active,
        &["settings.keys.announce", "settings.keys.active"],
        format!("announce ({}) is longer than active ({})", keys.announce, keys.active),
    );
    wrong(
        !settings.locales.supported.contains(&settings.locales.default),
        &["settings.locales.default", "settings.locales.supported"],
        format!("{} is not among locales.supported", settings.locales.default),
    );
    list
}
