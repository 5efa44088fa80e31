//! `display`, `ui_locales`, `acr_values`: wishes, never a reason to fail.

use crate::kit::flow::{WEB, authorize, code_answer, id_claims};
use crate::kit::op::{Op, PASSWORD};

#[tokio::test]
async fn display_is_taken_politely() {
    let op = Op::start().await;
    for display in ["page", "popup", "touch", "wap", "hologram", "<b>"] {
        let answer = code_answer(&mut op.browser(), WEB, "openid", &[("display", display)]).await;
        assert!(answer.location_param("code").is_some(), "{display}: {}", answer.location());
    }
}

#[tokio::test]
async fn the_page_speaks_the_language_that_was_asked_for() {
    let op = Op::start().await;
    for (locales, lang) in
        [("de", "de"), ("de-CH", "de"), ("se de en", "de"), ("se", "en"), ("", "en"), ("<b> x_y", "en")]
    {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("ui_locales", locales)])).await;
        assert_eq!(answer.status, 200, "{locales}");
        assert_eq!(answer.page().lang().as_deref(), Some(lang), "{locales}");
    }
    let mut browser = op.browser();
    let answer = browser.get(&authorize(WEB, "openid", &[("ui_locales", "de")])).await;
    assert!(answer.page().text.contains("Bei Web shop anmelden"), "{}", answer.page().text);
    // The wish belongs to the request: it still holds after a wrong password.
    let answer = browser.sign_in("alice", "wrong wrong wrong").await;
    assert_eq!((answer.status.as_u16(), answer.page().lang().as_deref()), (422, Some("de")));
    // Without a wish the browser's own language counts.
    let mut browser = op.browser();
    "de-AT,de;q=0.9,en;q=0.1".clone_into(&mut browser.language);
    let answer = browser.get(&authorize(WEB, "openid", &[])).await;
    assert_eq!(answer.page().lang().as_deref(), Some("de"));
    // What the person chose beats both.
    let footer = answer.page().links().into_iter().find(|link| link.contains("lang=en")).expect("a choice of language");
    let english = browser.get(&op.resolve(&answer.url, &footer)).await;
    assert_eq!(english.page().lang().as_deref(), Some("en"));
    let answer = browser.get(&authorize(WEB, "openid", &[("ui_locales", "de")])).await;
    assert_eq!(answer.page().lang().as_deref(), Some("en"));
}

#[tokio::test]
async fn the_form_that_carries_the_answer_speaks_the_language_wished_for() {
    let op = Op::start().await;
    let wish = [("response_mode", "form_post"), ("ui_locales", "de")];
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &wish)).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert!(answer.page().has_id("form-post-submit"), "{}", answer.body);
    assert_eq!(answer.page().lang().as_deref(), Some("de"), "a code");
    let silent = [&wish[..], &[("prompt", "none")]].concat();
    let answer = op.browser().get(&authorize(WEB, "openid", &silent)).await;
    assert_eq!(answer.page().lang().as_deref(), Some("de"), "a refusal");
    let wrong = [&wish[..], &[("scope", "nosuch openid"), ("max_age", "x")]].concat();
    let answer = op.browser().get(&authorize(WEB, "openid", &wrong)).await;
    assert!(answer.page().has_id("form-post-submit"), "{}", answer.body);
    assert_eq!(answer.page().lang().as_deref(), Some("de"), "a request that is not right");
}

#[tokio::test]
async fn acr_values_are_voluntary() {
    let op = Op::start().await;
    let metadata = op.get("/.well-known/openid-configuration", &[]).await.json();
    let supported = metadata["acr_values_supported"].as_array().cloned().unwrap_or_default();
    assert!(!supported.is_empty(), "{metadata}");
    let all: Vec<&str> = supported.iter().filter_map(serde_json::Value::as_str).collect();
    for wish in ["1 2", "phr", &all.join(" ")] {
        let answer = code_answer(&mut op.browser(), WEB, "openid", &[("acr_values", wish)]).await;
        let acr = id_claims(&op, WEB, &answer).await["acr"].as_str().expect("an acr").to_owned();
        assert!(all.contains(&acr.as_str()), "{wish}: {acr}");
    }
}
