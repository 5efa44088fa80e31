//! Authlib for Python, in a Flask application and by itself.

use serde_json::{Value, json};

use super::{GOODBYE, introduce};
use crate::kit::peers;
use crate::kit::process::Doorward;

const REALM: &str = include_str!("../../../peers/authlib/realm.yaml");

/// What a scenario saw, and the server it ran against; `None` where the run is on PostgreSQL.
async fn saw(script: &str) -> Option<(Doorward, Value)> {
    let (doorward, given) = introduce(REALM).await?;
    let seen = peers::python("authlib", script, &given);
    Some((doorward, seen))
}

#[tokio::test]
async fn authlib_signs_people_of_a_flask_application_in_and_out() {
    let Some((doorward, seen)) = saw("flask_app.py").await else { return };
    assert_eq!(seen["pressed"], json!(["login-submit", "consent-allow"]), "one sign-in, one consent");
    let signed_in = &seen["signed_in"];
    let claims = &signed_in["token"]["userinfo"];
    assert_eq!((&claims["iss"], &claims["aud"]), (&json!(doorward.issuer()), &json!("web")));
    assert!(claims["nonce"].is_string(), "the library checked the ID token against its nonce");
    let userinfo = &signed_in["userinfo"];
    assert_eq!((&userinfo["sub"], &userinfo["email"]), (&claims["sub"], &json!("alice@example.com")));
    assert_ne!(signed_in["refreshed"]["refresh_token"], signed_in["token"]["refresh_token"], "refresh tokens rotate");
    assert_eq!(signed_in["refreshed"]["scope"], "openid profile email offline_access");
    assert_eq!(seen["signed_out"]["post_logout_redirect_uri"], GOODBYE, "back with the state that was sent");
    assert_eq!(seen["silent"]["error"], "login_required", "the session is over");
}

/// A difference: the library uses PKCE only where `code_challenge_method` is among its client's arguments.
#[tokio::test]
async fn authlib_is_told_at_once_when_pkce_is_missing() {
    let Some((_doorward, seen)) = saw("flask_app.py").await else { return };
    let told = json!({
        "error": "invalid_request",
        "description": "code_challenge is missing; this client has to use PKCE with S256",
    });
    assert_eq!(seen["without_pkce"], told);
}

#[tokio::test]
async fn authlib_signs_its_requests_with_a_key_of_its_own() {
    let Some((_doorward, seen)) = saw("assertion.py").await else { return };
    let signed = &seen["short_lived"];
    assert_eq!((&signed["scope"], &signed["rotated"]), (&json!("openid profile"), &json!(true)));
    assert_eq!(signed["introspected"]["active"], true);
    assert_eq!(signed["revoked"], 200);
}

/// A difference: the library's assertions live an hour, of which five minutes are accepted (`security` row 61, behaviour
/// case B-13); and once claims are given to it, it keeps the first `jti` for all of them.
#[tokio::test]
async fn authlib_is_told_that_its_assertions_live_too_long_or_come_twice() {
    let Some((_doorward, seen)) = saw("assertion.py").await else { return };
    let told = |description: &str| json!({ "error": "invalid_client", "description": description });
    assert_eq!(seen["as_it_comes"], told("exp of client_assertion lies more than 5 minutes ahead"));
    let twice = "the jti of client_assertion was used before: make a new assertion for each request";
    assert_eq!(seen["pinned"], told(twice));
}

/// A difference: the library does not encode what it puts into the header (RFC 6749 section 2.3.1), so `+` and `%` arrive as
/// something else (behaviour case B-11). Secrets that are made here have no such signs.
#[tokio::test]
async fn authlib_cannot_send_every_secret_in_the_header() {
    let Some((_doorward, seen)) = saw("secret.py").await else { return };
    assert_eq!(seen["body"]["scope"], "read");
    assert_eq!(seen["header"]["error"], "invalid_client");
    let told = seen["header"]["description"].as_str().expect("a description");
    assert!(told.contains("form-encoded"), "{told}");
}
