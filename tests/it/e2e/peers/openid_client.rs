//! openid-client for Node, certified for the Basic RP profile.

use serde_json::{Value, json};

use super::{GOODBYE, introduce};
use crate::kit::peers;
use crate::kit::process::Doorward;

const REALM: &str = include_str!("../../../peers/openid-client/realm.yaml");

/// What a scenario saw, and the server it ran against; `None` where the run is on PostgreSQL.
async fn saw(script: &str) -> Option<(Doorward, Value)> {
    let (doorward, given) = introduce(REALM).await?;
    let seen = peers::node("openid-client", script, &given);
    Some((doorward, seen))
}

#[tokio::test]
async fn openid_client_signs_in_with_pkce_reads_userinfo_and_refreshes() {
    let Some((doorward, seen)) = saw("code.mjs").await else { return };
    assert_eq!(seen["pkce"], true, "discovery tells the library about S256");
    assert_eq!(seen["pressed"], json!(["login-submit", "consent-allow"]), "one sign-in, one consent");
    let claims = &seen["claims"];
    assert_eq!((&claims["iss"], &claims["aud"]), (&json!(doorward.issuer()), &json!("basic")));
    assert_eq!(seen["tokens"]["scope"], "openid profile email offline_access");
    let userinfo = &seen["userinfo"];
    assert_eq!(userinfo["sub"], claims["sub"]);
    assert_eq!((&userinfo["email"], &userinfo["name"]), (&json!("alice@example.com"), &json!("Alice Adams")));

    assert_ne!(seen["refreshed"]["refresh_token"], seen["tokens"]["refresh_token"], "refresh tokens rotate");
    assert_eq!(seen["refreshed_claims"]["auth_time"], claims["auth_time"]);
    assert_eq!(seen["refreshed_claims"]["sid"], claims["sid"]);
    assert_eq!(seen["narrowed"]["scope"], "openid email");
}

#[tokio::test]
async fn openid_client_asks_about_a_token_and_revokes_it() {
    let Some((_doorward, seen)) = saw("code.mjs").await else { return };
    let introspected = &seen["introspected"];
    assert_eq!((&introspected["active"], &introspected["client_id"]), (&json!(true), &json!("basic")));
    assert_eq!(introspected["scope"], "openid email");
    assert_eq!(introspected["sub"], seen["claims"]["sub"]);
    assert_eq!(seen["introspected_after_revocation"], json!({ "active": false }), "the whole family ends");
    assert_eq!(seen["refresh_after_revocation"]["error"], "invalid_grant");
}

#[tokio::test]
async fn openid_client_authenticates_in_each_way_that_is_advertised() {
    let Some((_doorward, seen)) = saw("authentication.mjs").await else { return };
    for client_id in ["basic", "post", "hmac", "signer", "native"] {
        let one = &seen[client_id];
        assert_eq!(one["azp"], client_id);
        assert_eq!(one["sub"], seen["basic"]["sub"], "{client_id}");
        assert_eq!(one["scope"], "openid profile", "{client_id}");
        let active = if client_id == "native" { Value::Null } else { json!(true) };
        assert_eq!(one["introspected"]["active"], active, "{client_id}");
    }
}

/// A difference: the library sends a secret in the body unless it is told otherwise, a client is registered for the header
/// unless it says otherwise (RFC 7591 section 2). The answer tells the developer which of the two to change.
#[tokio::test]
async fn openid_client_is_told_when_the_secret_comes_in_another_way_than_the_registered_one() {
    let Some((doorward, seen)) = saw("defaults.mjs").await else { return };
    assert_eq!(seen["post"]["claims"]["iss"], doorward.issuer(), "its quick start, with client_secret_post");
    assert_eq!(seen["post"]["expires_in"], 300);
    let refused = &seen["basic"];
    assert_eq!(refused["status"], 401);
    let told = &refused["cause"][0]["parameters"];
    assert_eq!(told["error"], "invalid_client");
    assert_eq!(
        told["error_description"], "client authentication failed: registered method is client_secret_basic",
        "the library stops at the challenge and never shows the body"
    );
}

#[tokio::test]
async fn openid_client_takes_the_answer_as_a_form() {
    let Some((_doorward, seen)) = saw("form_post.mjs").await else { return };
    assert_eq!(seen["pressed"], json!(["login-submit", "consent-allow", "form-post-submit"]));
    assert!(seen["sub"].is_string());
    assert_eq!(seen["silently_pressed"], json!(["form-post-submit"]), "an error comes the same way");
    assert_eq!(seen["silent"]["error"], "login_required");
}

#[tokio::test]
async fn openid_client_verifies_signed_userinfo() {
    let Some((doorward, seen)) = saw("signed_userinfo.mjs").await else { return };
    let claims = &seen["claims"];
    assert_eq!((&claims["iss"], &claims["aud"]), (&json!(doorward.issuer()), &json!("signed")));
    assert_eq!((&claims["sub"], &claims["email"]), (&seen["sub"], &json!("alice@example.com")));
}

#[tokio::test]
async fn openid_client_signs_out_and_comes_back() {
    let Some((_doorward, seen)) = saw("logout.mjs").await else { return };
    assert_eq!(seen["before"], json!(["login-submit", "consent-allow"]), "the second sign-in was silent");
    assert_eq!(seen["back"], format!("{GOODBYE}?state={}", seen["state"].as_str().expect("a state")));
    assert_eq!(seen["silent"]["error"], "login_required", "the session is over");
    assert_eq!(seen["refreshed"]["error"], "invalid_grant", "and with it what lived in it");
}

/// A difference: the library sends `client_id` and the address without a hint, and other providers redirect. Here the person
/// is asked, and stays (`security-design` rule 6, RP-Initiated Logout section 3).
#[tokio::test]
async fn openid_client_without_a_hint_leaves_the_person_at_the_provider() {
    let Some((_doorward, seen)) = saw("logout.mjs").await else { return };
    assert_eq!(seen["asked"], json!(["logout-yes"]));
    assert_eq!(seen["end"], "You are signed out");
    assert_eq!(seen["silent_again"]["error"], "login_required");
}

#[tokio::test]
async fn openid_client_registers_itself_and_ends_its_registration() {
    let Some((doorward, mut given)) = introduce(REALM).await else { return };
    let made = ["client", "initial-access-token", "create", "--label", "peers", "--json"];
    let made: Value = serde_json::from_str(&doorward.command_ok(&made)).expect("JSON");
    given["token"] = made["initial_access_token"].clone();
    let seen = peers::node("openid-client", "registration.mjs", &given);

    assert_eq!(seen["uninvited"]["status"], 401, "an initial access token is asked for");
    assert_eq!(seen["elsewhere"]["error"], "invalid_redirect_uri", "and is not used up by a refusal");
    let registered = &seen["registered"];
    assert_eq!(registered["token_endpoint_auth_method"], "client_secret_post");
    assert_eq!(seen["pressed"], json!(["login-submit", "consent-allow"]));
    assert_eq!(seen["claims"]["aud"], registered["client_id"]);
    assert_eq!(seen["userinfo"]["email"], "alice@example.com");
    assert_eq!(seen["refreshed"], "openid email");

    assert_eq!(seen["read"]["client_id"], registered["client_id"]);
    assert!(seen["read"].get("client_secret").is_none(), "a secret is told once");
    assert_eq!(seen["deleted"], 204);
    assert_eq!(seen["refresh_after_deletion"]["cause"][0]["parameters"]["error"], "invalid_client");
}

#[tokio::test]
async fn openid_client_signs_its_requests_and_asks_for_single_claims() {
    let Some((_doorward, seen)) = saw("request_object.mjs").await else { return };
    assert_eq!(seen["sent"], json!(["client_id", "request"]), "all else stands inside the object");
    assert_eq!(seen["claims"]["given_name"], "Alice", "asked for in the ID token");
    let userinfo = &seen["userinfo"];
    assert_eq!((&userinfo["sub"], &userinfo["name"]), (&seen["claims"]["sub"], &json!("Alice Adams")));
    assert!(userinfo.get("email").is_none(), "of a scope that the client is not registered for");
}

#[tokio::test]
async fn openid_client_takes_id_tokens_through_the_browser_in_the_fragment_and_as_a_form() {
    let Some((_doorward, seen)) = saw("front_channel.mjs").await else { return };
    for way in ["hybrid", "hybrid_form", "implicit", "implicit_form"] {
        assert_eq!(seen[way]["email"], "alice@example.com", "{way}");
        assert_eq!(seen[way]["sub"], seen["hybrid"]["sub"], "{way}");
    }
}
