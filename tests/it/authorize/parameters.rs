//! B-10: repeated, empty and unknown parameters; what is not built is refused by its own code.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{assert_on_page, assert_refused};
use crate::kit::flow::{WEB, authorize, code, code_answer};
use crate::kit::op::Op;

#[tokio::test]
async fn a_parameter_sent_twice_is_refused_by_redirect_without_guessing() {
    let op = Op::start().await;
    for (more, state) in [
        ("scope=openid", Some("st")),
        ("state=other", None),
        ("state=st", None),
        ("nonce=no", Some("st")),
        ("response_type=code", Some("st")),
        ("sc%6Fpe=openid", Some("st")),
        ("prompt=none&prompt=none", Some("st")),
        ("max_age=1&max_age=", Some("st")),
        ("code_challenge=x", Some("st")),
        ("response_mode=query&response_mode=form_post", Some("st")),
        ("login_hint=a&login_hint=b", Some("st")),
    ] {
        let answer = op.browser().get(&format!("{}&{more}", authorize(WEB, "openid", &[]))).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_request", more);
        assert_eq!(answer.location_param("state").as_deref(), state, "{more}");
        let description = answer.location_param("error_description").expect("a description");
        assert!(description.contains("more than once"), "{description}");
    }
}

#[tokio::test]
async fn client_or_redirect_uri_sent_twice_gets_a_page() {
    let op = Op::start().await;
    for more in ["client_id=web", "client_id=asker", "redirect_uri=https%3A%2F%2Fapp.example%2Fcb", "redirect_uri="] {
        let answer = op.browser().get(&format!("{}&{more}", authorize(WEB, "openid", &[]))).await;
        assert_on_page(&answer, "invalid_request", more);
    }
}

#[tokio::test]
async fn resource_may_repeat_and_what_is_not_allowed_is_invalid_target() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let api = "resource=https%3A%2F%2Fapi.example";
    for more in [format!("{api}&{api}"), format!("{api}%2F&resource="), "resource=".to_owned()] {
        let answer = browser.get(&format!("{}&{more}", authorize(WEB, "openid", &[]))).await;
        assert!(answer.location_param("code").is_some(), "{more}: {}", answer.location());
    }
    for more in ["resource=https%3A%2F%2Fother.example", "resource=https%3A%2F%2Fapi.example%2F%23f", "resource=x"] {
        let answer = browser.get(&format!("{}&{more}", authorize(WEB, "openid", &[]))).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_target", more);
    }
}

#[tokio::test]
async fn empty_is_absent_and_unknown_is_ignored() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for more in [
        "prompt=&max_age=&login_hint=&display=&ui_locales=&id_token_hint=&acr_values=&request=&request_uri=&registration=",
        "foo=1&foo=2&bar=%zz&%zz=1&claims_locales=se&claims_locales=se",
        "prompt&max_age",
    ] {
        let answer = browser.get(&format!("{}&{more}", authorize(WEB, "openid", &[]))).await;
        assert!(answer.location_param("code").is_some(), "{more}: {}", answer.location());
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_by_the_right_channel() {
    let op = Op::start().await;
    for more in ["login_hint=%zz", "prompt=%ff", "ui_locales=%C3"] {
        let answer = op.browser().get(&format!("{}&{more}", authorize(WEB, "openid", &[]))).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_request", more);
    }
    let many = format!("{}&{}", authorize(WEB, "openid", &[]), "a=1&".repeat(100));
    assert_on_page(&op.browser().get(&many).await, "invalid_request", "too many");
}

#[tokio::test]
async fn a_client_of_the_code_flow_gets_no_other() {
    let op = Op::start().await;
    for response_type in ["none", "code code", "id_token<script>"] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("response_type", response_type)])).await;
        assert_refused(&answer, WEB.redirect_uri, "unsupported_response_type", response_type);
        assert!(!answer.location().contains('#') && !answer.location().contains('<'), "{}", answer.location());
    }
    for (response_type, error) in [
        ("id_token", "unauthorized_client"),
        ("code id_token", "unauthorized_client"),
        ("token", "unsupported_response_type"),
        ("code token", "unsupported_response_type"),
        ("id_token token", "unsupported_response_type"),
    ] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("response_type", response_type)])).await;
        let told = answer.fragment();
        assert_eq!(told.keys().collect::<Vec<_>>(), ["error", "error_description", "iss", "state"], "{told:?}");
        assert_eq!((&*told["error"], &*told["state"]), (error, "st"), "{response_type}");
    }
    let answer = op.browser().get(&authorize(WEB, "openid", &[("response_type", "")])).await;
    assert_refused(&answer, WEB.redirect_uri, "invalid_request", "missing");
    assert_eq!(answer.location_param("state").as_deref(), Some("st"));
    for mode in ["jwt", "web_message", "QUERY"] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("response_mode", mode)])).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_request", mode);
        assert!(!answer.location().contains('#'), "{}", answer.location());
    }
}

#[tokio::test]
async fn request_objects_that_cannot_be_read_are_refused_by_their_own_code() {
    let op = Op::start().await;
    for (name, value, error) in [
        ("request", "e30.e30.", "invalid_request_object"),
        ("request_uri", "https://app.example/object", "invalid_request_uri"),
        ("request_uri", "urn:ietf:params:oauth:request_uri:x", "invalid_request_uri"),
        ("registration", "{}", "registration_not_supported"),
    ] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[(name, value)])).await;
        assert_refused(&answer, WEB.redirect_uri, error, name);
        assert_eq!(answer.location_param("state").as_deref(), Some("st"), "{name}");
        // In the mode that was asked for.
        let answer =
            op.browser().get(&authorize(WEB, "openid", &[(name, value), ("response_mode", "form_post")])).await;
        let form = answer.page().form_with("form-post-submit").expect("a form");
        assert_eq!(form.value("error").as_deref(), Some(error), "{name}");
    }
}

#[tokio::test]
async fn a_state_only_inside_the_request_object_comes_back_with_the_refusal() {
    let op = Op::start().await;
    let inside = r#"{"state":"in side &","nonce":"n","redirect_uri":"https://evil.example/"}"#;
    let object = format!("e30.{}.", URL_SAFE_NO_PAD.encode(inside));
    let answer = op.browser().get(&authorize(WEB, "openid", &[("state", ""), ("request", &object)])).await;
    assert_refused(&answer, WEB.redirect_uri, "invalid_request_object", "inside");
    assert_eq!(answer.location_param("state").as_deref(), Some("in side &"));
    // The object's redirect URI is not taken, and a bad one outside gets a page.
    let wrong = [("redirect_uri", "https://evil.example/"), ("request", object.as_str())];
    assert_on_page(&op.browser().get(&authorize(WEB, "openid", &wrong)).await, "invalid_request_object", "outside");
}

#[tokio::test]
async fn parameters_in_another_order_are_the_same_request() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code_answer(&mut browser, WEB, "openid", &[]).await;
    let url = authorize(WEB, "openid email", &[]);
    let (path, query) = url.split_once('?').expect("a query");
    let turned: Vec<&str> = query.split('&').rev().collect();
    let answer = browser.get(&format!("{path}?{}", turned.join("&"))).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}
