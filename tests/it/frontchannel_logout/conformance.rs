//! The modules of the conformance suite's front-channel logout plan (`conformance` section 7), by name.

use serde_json::json;

use super::{FRAMED, OUT, frame, frames, logout, sign_in, sources, start};
use crate::kit::flow::{ASKER, WEB, authorize};
use crate::kit::house;
use crate::registration::{app_with, as_client, open, refused, register, registered};

#[tokio::test]
async fn oidcc_frontchannel_logout_discovery_endpoint_verification() {
    let op = house::start().await;
    let names = ["frontchannel_logout_supported", "frontchannel_logout_session_supported"];
    let document = async |issuer: &str| {
        let url = format!("{issuer}/.well-known/openid-configuration");
        op.get(&url, &[]).await.json()
    };
    for issuer in ["", "https://id.example/realms/other", "https://login.example"] {
        let document = document(issuer).await;
        assert!(names.iter().all(|name| document.get(name).is_none()), "off, which is the default: {document}");
    }
    op.apply("realm: other\nsettings: { logout: { front_channel: true } }\n").await;
    for (issuer, offered) in [("https://id.example/realms/other", true), ("https://login.example", false)] {
        let document = document(issuer).await;
        assert!(names.iter().all(|name| document.get(name).is_some_and(|value| *value == true) == offered), "{issuer}");
        assert!(document["end_session_endpoint"].as_str().is_some_and(|uri| uri.starts_with("https://")));
    }
}

#[tokio::test]
async fn oidcc_frontchannel_rp_initiated_logout() {
    let op = start().await;
    let mut browser = op.browser();
    let (hint, claims) = sign_in(&op, &mut browser, WEB).await;
    op.advance(std::time::Duration::from_secs(1)).await;
    sign_in(&op, &mut browser, ASKER).await;
    let pairs = [("id_token_hint", hint.as_str()), ("post_logout_redirect_uri", OUT), ("state", "a+b c")];
    let page = browser.get(&logout(&pairs)).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let sid = &claims["sid"];
    let wanted = [frame("https://asker.example/bye", sid), frame("https://app.example/bye?tenant=a%2Fb", sid)];
    assert_eq!(frames(&page), wanted, "iss and sid for everybody, as in the ID tokens; the latest first");
    assert_eq!(
        sources(&page, "frame-src").as_deref(),
        Some(&["https://app.example".to_owned(), "https://asker.example".to_owned()][..]),
        "nothing else may be framed"
    );
    assert_eq!(sources(&page, "script-src").as_deref(), Some(&["'self'".to_owned()][..]));
    assert_eq!(sources(&page, "form-action").as_deref(), Some(&["'self'".to_owned()][..]));
    // On by script, without one by the browser itself, and by hand.
    let back = format!("{OUT}?state=a%2Bb+c");
    assert_eq!(page.page().attribute("back", "href").as_deref(), Some(back.as_str()));
    let refresh = format!("<noscript><meta http-equiv=\"refresh\" content=\"8;url={back}\"></noscript>");
    assert!(page.body.contains(&refresh), "{}", page.body);
    assert!(page.body.contains("/static/js/signed-out-"), "{}", page.body);
    assert!(page.page().text.contains("Web shop") && page.page().text.contains("Asking app"), "{}", page.body);
    assert_eq!(browser.cookie("-session-"), None);
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("login_required"));
    // Again, as a reload does: nobody is left to be told, so the way leads straight back.
    let again = browser.get(&logout(&pairs)).await;
    assert_eq!((again.status.as_u16(), again.location()), (303, back.as_str()));
}

#[tokio::test]
async fn every_realm_names_its_own_issuer() {
    let op = house::start().await;
    op.apply(&FRAMED.lines().take(4).collect::<Vec<_>>().join("\n").replace("realm: main", "realm: other")).await;
    let mut browser = op.browser();
    house::OTHER.tokens(&op, &mut browser, WEB, "openid").await;
    browser.get(&house::OTHER.at("/logout")).await;
    let page = browser.submit("logout-yes", &[]).await;
    let [frame] = frames(&page).try_into().expect("one frame");
    let issuer: String = form_urlencoded::byte_serialize(house::OTHER.issuer.as_bytes()).collect();
    assert!(frame.contains(&format!("&iss={issuer}&sid=ses_")), "{frame}");
}

#[tokio::test]
async fn a_client_that_registered_itself_as_the_suites_does_is_loaded_too() {
    let op = open().await;
    op.apply("realm: main\nsettings: { logout: { front_channel: true } }\n").await;
    let uri = "https://fresh.example/front";
    let wish = json!({ "frontchannel_logout_uri": uri, "frontchannel_logout_session_required": true });
    let answer = registered(&op, &app_with(&wish)).await;
    assert_eq!(
        (&answer["frontchannel_logout_uri"], &answer["frontchannel_logout_session_required"]),
        (&json!(uri), &json!(true))
    );
    let mut browser = op.browser();
    let (_, claims) = sign_in(&op, &mut browser, as_client(&answer)).await;
    browser.get("/logout").await;
    let page = browser.submit("logout-yes", &[]).await;
    assert_eq!(frames(&page), [frame(uri, &claims["sid"])]);
    let elsewhere = app_with(&json!({ "frontchannel_logout_uri": "https://evil.example/front" }));
    refused(&register(&op, &elsewhere).await, 400, "invalid_client_metadata", "redirect_uris");
}
