//! The authorization endpoint as relying parties and browsers meet it.

mod addresses;
mod hints;
mod parameters;
mod pkce;
mod post;
mod prompts;
mod response;
mod scopes;
mod state;
mod wishes;

use crate::kit::browser::Answer;

/// A page of ours instead of a redirect, with this code on it.
fn assert_on_page(answer: &Answer, code: &str, what: &str) {
    assert_eq!(answer.status, 400, "{what}: {}", answer.body);
    assert!(answer.header("location").is_none(), "{what}: no redirect");
    assert!(answer.header("set-cookie").is_none(), "{what}: no cookie");
    assert!(answer.page().text.contains(code), "{what}: {}", answer.page().text);
}

/// A refusal by redirect to `to` with this error, and `iss`.
fn assert_refused(answer: &Answer, to: &str, error: &str, what: &str) {
    assert_eq!(answer.status, 303, "{what}: {}", answer.body);
    assert!(answer.location().starts_with(to), "{what}: {}", answer.location());
    assert_eq!(answer.location_param("error").as_deref(), Some(error), "{what}: {}", answer.location());
    assert_eq!(answer.location_param("iss").as_deref(), Some("http://localhost:8080"), "{what}: {}", answer.location());
    assert_eq!(answer.location_param("code"), None, "{what}: {}", answer.location());
}
