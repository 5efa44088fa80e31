//! Refusals travel by the channel of the type that was asked for, with `iss` and `state`, and give nothing.

use std::collections::BTreeMap;

use super::{CAREFUL, OLD, answer, start, start_with_tokens};
use crate::kit::browser::Answer;
use crate::kit::flow::{Client, WEB, authorize, code};

/// The error in the fragment, and nothing beside it.
fn told(answer: &Answer, client: Client) -> BTreeMap<String, String> {
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(answer.location().starts_with(&format!("{}#", client.redirect_uri)), "{}", answer.location());
    let fields = answer.fragment();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["error", "error_description", "iss", "state"], "{fields:?}");
    assert_eq!((&*fields["iss"], &*fields["state"]), ("http://localhost:8080", "st"));
    fields
}

#[tokio::test]
async fn a_type_that_was_not_registered_is_refused_whoever_is_signed_in() {
    let op = start_with_tokens().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for client in [WEB, CAREFUL] {
        for kind in ["token", "code token", "id_token token", "code id_token token"] {
            let told = told(&browser.get(&authorize(client, "openid", &[("response_type", kind)])).await, client);
            assert_eq!(told["error"], "unauthorized_client", "{} {kind}", client.id);
        }
    }
    // A client of the implicit flow alone gets no code.
    let answer = browser.get(&authorize(CAREFUL, "openid", &[])).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("unauthorized_client"));
}

#[tokio::test]
async fn each_refusal_comes_in_the_fragment() {
    let op = start().await;
    for kind in ["id_token", "code id_token"] {
        for (change, error) in [
            (("nonce", ""), "invalid_request"),
            (("scope", "nope"), "invalid_scope"),
            (("scope", "email"), "invalid_scope"),
            (("response_mode", "query"), "invalid_request"),
            (("response_mode", "jwt"), "invalid_request"),
            (("prompt", "none"), "login_required"),
            (("prompt", "none login"), "invalid_request"),
            (("max_age", "-1"), "invalid_request"),
            (("resource", "https://unknown.example"), "invalid_target"),
            (("request", "e30.e30."), "invalid_request_object"),
        ] {
            let url = authorize(OLD, "openid", &[("response_type", kind), change]);
            let told = told(&op.browser().get(&url).await, OLD);
            assert_eq!(told["error"], error, "{kind} {change:?}: {told:?}");
        }
    }
}

#[tokio::test]
async fn a_no_of_the_person_comes_in_the_fragment_too() {
    let op = start().await;
    let mut browser = op.browser();
    let wish = [("response_type", "id_token")];
    browser.get(&authorize(CAREFUL, "openid", &wish)).await;
    let cancelled = browser.submit("login-cancel", &[]).await;
    assert_eq!(told(&cancelled, CAREFUL)["error"], "access_denied");
    browser.get(&authorize(CAREFUL, "openid", &wish)).await;
    let asked = browser.sign_in("alice", crate::kit::op::PASSWORD).await;
    assert!(asked.page().has_id("consent-deny"), "{}", asked.body);
    // Chromium checks the redirect after a form against form-action.
    let csp = asked.header("content-security-policy").expect("a CSP");
    assert!(csp.ends_with("form-action 'self' https://careful.example"), "{csp}");
    let denied = browser.submit("consent-deny", &[]).await;
    assert_eq!(told(&denied, CAREFUL)["error"], "access_denied");
    let silent = [("response_type", "id_token"), ("prompt", "none")];
    let told = told(&browser.get(&authorize(CAREFUL, "openid", &silent)).await, CAREFUL);
    assert_eq!(told["error"], "consent_required");
}

#[tokio::test]
async fn where_no_type_is_named_the_query_is_used_and_a_form_where_it_is_asked_for() {
    let op = start().await;
    let none = op.browser().get(&authorize(OLD, "openid", &[("response_type", "")])).await;
    assert!(!none.location().contains('#'), "{}", none.location());
    assert_eq!(none.location_param("error").as_deref(), Some("invalid_request"));
    let wish = [("response_type", "id_token"), ("response_mode", "form_post"), ("nonce", "")];
    let answer = answer(&mut op.browser(), OLD, "openid", &wish).await;
    let form = answer.page().form_with("form-post-submit").expect("a form");
    let sent = form.filled("form-post-submit", &[]);
    assert_eq!(
        sent.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["error", "error_description", "state", "iss"]
    );
}

#[tokio::test]
async fn no_redirect_uri_with_names_of_ours_can_be_registered() {
    let op = start().await;
    for name in ["iss", "state", "code", "id_token", "access_token", "token_type", "expires_in", "error"] {
        let file = format!(
            "realm: main\nclients: [{{ client_id: old, redirect_uris: [\"https://old.example/cb?{name}=x\"] }}]\n"
        );
        let refused = op.try_apply(&file).await.expect_err("a name that answers use");
        assert!(refused.contains(&format!("must not have the query parameter {name}")), "{refused}");
    }
    // Its own query stays what it is, whatever the answer's way.
    op.apply("realm: main\nclients: [{ client_id: old, redirect_uris: [\"https://old.example/cb?tenant=1\"] }]\n")
        .await;
    let client = Client { redirect_uri: "https://old.example/cb?tenant=1", ..OLD };
    let answer = answer(&mut op.browser(), client, "openid", &[("response_type", "id_token")]).await;
    let (to, fragment) = answer.location().split_once('#').expect("a fragment");
    assert_eq!(to, client.redirect_uri);
    assert!(fragment.contains("id_token=") && !fragment.contains("tenant"), "{fragment}");
}
