//! Redirect URIs: B-01 to B-04, and what the page says when one is refused.

use super::assert_on_page;
use crate::kit::flow::{Client, NATIVE, WEB, authorize, code_answer, redeem};
use crate::kit::op::Op;

/// Signs in with this redirect URI and redeems the code with it.
async fn works(op: &Op, client: Client, redirect_uri: &'static str) -> String {
    let client = Client { redirect_uri, ..client };
    let answer = code_answer(&mut op.browser(), client, "openid", &[]).await;
    assert!(answer.location().starts_with(redirect_uri), "{redirect_uri}: {}", answer.location());
    let code = answer.location_param("code").unwrap_or_else(|| panic!("{redirect_uri}: {}", answer.location()));
    let redeemed = redeem(op, client, &code).await;
    assert_eq!(redeemed.status, 200, "{redirect_uri}: {}", redeemed.body);
    answer.location().to_owned()
}

async fn refused(op: &Op, client: Client, redirect_uri: &str, difference: &str) {
    let answer = op.browser().get(&authorize(client, "openid", &[("redirect_uri", redirect_uri)])).await;
    assert_on_page(&answer, "redirect_uri_mismatch", redirect_uri);
    assert!(answer.page().text.contains(difference), "{redirect_uri}: {}", answer.page().text);
}

#[tokio::test]
async fn of_a_loopback_address_only_the_port_is_free() {
    let op = Op::start().await;
    for uri in ["http://localhost:63785/callback", "http://127.0.0.1:51004/callback", "http://localhost/callback"] {
        works(&op, NATIVE, uri).await;
    }
    refused(&op, NATIVE, "http://[::1]:51004/callback", "").await;
    refused(&op, NATIVE, "http://127.0.0.1:51004/other", "").await;
    refused(&op, NATIVE, "https://localhost/callback", "the scheme differs").await;
    refused(&op, NATIVE, "http://LOCALHOST/callback", "upper and lower case differ").await;
    // Nor may the token request come with another port than the authorization request.
    let answer = code_answer(&mut op.browser(), NATIVE, "openid", &[]).await;
    let other = Client { redirect_uri: "http://localhost:63786/callback", ..NATIVE };
    let redeemed = redeem(&op, other, &answer.location_param("code").expect("a code")).await;
    assert_eq!((redeemed.status.as_u16(), redeemed.json()["error"].as_str()), (400, Some("invalid_grant")));
}

const MORE: &str = r#"
realm: main
clients:
  - client_id: pinned
    token_endpoint_auth_method: none
    redirect_uris: [ "http://localhost:8000/cb", "http://[::1]/cb" ]
    grant_types: [ authorization_code ]
    scope: openid
    consent: skip
  - client_id: braces
    token_endpoint_auth_method: none
    redirect_uris: [ "https://app.example/%7B123%7D/" ]
    grant_types: [ authorization_code ]
    scope: openid
    consent: skip
  - client_id: custom
    token_endpoint_auth_method: none
    redirect_uris: [ "com.example.app:/cb", "com.example.app:/cb?x=1", "com.example.other:cb", "COM.example.third:/cb", "com.example.fourth://cb" ]
    grant_types: [ authorization_code ]
    scope: openid
    consent: skip
"#;

const fn public(id: &'static str) -> Client {
    Client { id, secret: None, in_body: false, redirect_uri: "" }
}

#[tokio::test]
async fn a_registered_loopback_port_does_not_pin() {
    let op = Op::start().await;
    op.apply(MORE).await;
    for uri in ["http://localhost:8000/cb", "http://localhost:9/cb", "http://localhost/cb", "http://[::1]:51004/cb"] {
        works(&op, public("pinned"), uri).await;
    }
    refused(&op, public("pinned"), "http://127.0.0.1:8000/cb", "the host differs").await;
}

#[tokio::test]
async fn an_address_is_decoded_once_and_comes_back_unchanged() {
    let op = Op::start().await;
    op.apply(MORE).await;
    let location = works(&op, public("braces"), "https://app.example/%7B123%7D/").await;
    assert!(location.starts_with("https://app.example/%7B123%7D/?code="), "{location}");
    refused(&op, public("braces"), "https://app.example/{123}/", "the percent-encoding differs").await;
    refused(&op, public("braces"), "https://app.example/%257B123%257D/", "").await;
    refused(&op, public("braces"), "https://app.example/%7b123%7d/", "upper and lower case differ").await;
}

#[tokio::test]
async fn a_custom_scheme_is_compared_and_answered_as_text() {
    let op = Op::start().await;
    op.apply(MORE).await;
    let custom = public("custom");
    for (uri, begins) in [
        ("com.example.app:/cb", "com.example.app:/cb?code="),
        ("com.example.app:/cb?x=1", "com.example.app:/cb?x=1&code="),
        ("com.example.other:cb", "com.example.other:cb?code="),
        ("COM.example.third:/cb", "COM.example.third:/cb?code="),
        ("com.example.fourth://cb", "com.example.fourth://cb?code="),
    ] {
        let location = works(&op, custom, uri).await;
        assert!(location.starts_with(begins), "{location}");
        // An error goes the same way.
        let answer = op.browser().get(&authorize(custom, "openid", &[("redirect_uri", uri), ("prompt", "none")])).await;
        assert!(
            answer.location().starts_with(&begins.replace("code=", "error=login_required")),
            "{}",
            answer.location()
        );
    }
    for uri in [
        "com.example.app://cb",
        "com.example.app:cb",
        "COM.example.app:/cb",
        "com.example.third:/cb",
        "com.example.app:/cb#frag",
        "com.example.app:/cb?x=2",
        "urn:ietf:wg:oauth:2.0:oob",
    ] {
        refused(&op, custom, uri, "").await;
    }
}

#[tokio::test]
async fn whatever_is_not_registered_gets_a_page_and_no_redirect() {
    let op = Op::start().await;
    for (uri, difference) in [
        ("https://app.example/secure/..;/evil", "the path differs"),
        ("https://app.example/secure/%2e%2e/evil", "the path differs"),
        ("https://app.example/secure/%252e%252e%3B/evil", "the path differs"),
        ("https://app.example/secure/x\r\nX:1", "the path differs"),
        ("https://app.example/cb/", "a slash at the end"),
        ("https://app.example/CB", "upper and lower case differ"),
        ("https://app.example/cb?x=1", "the query differs"),
        ("https://app.example/cb?bar=foo&x=1", "the query differs"),
        ("https://app.example/cb#x", "it has a fragment"),
        ("https://app.example/../cb", "the path differs"),
        ("https://app.example/%2e/cb", "the path differs"),
        ("http://app.example/cb", "the scheme differs"),
        ("https://app.example:444/cb", "the port differs"),
        ("https://app.example.evil.example/cb", "the host differs"),
        ("https://evil.example/cb", "the host differs"),
        ("https://app.example@evil.example/cb", "the host differs"),
        ("https://a@app.example@evil.example/cb", "the host differs"),
        ("https://\u{430}pp.example/cb", "the host differs"),
        ("https://app.example%00.evil.example/cb", "the host differs"),
        ("https://app.example\\@evil.example/cb", "the host differs"),
        ("//app.example/cb", "the scheme differs"),
        ("javascript:alert(1)//", "another one altogether"),
        ("data:text/html,<script>alert(1)</script>", "another one altogether"),
        (" https://app.example/cb", ""),
    ] {
        refused(&op, WEB, uri, difference).await;
    }
    let answer = op.browser().get(&authorize(WEB, "openid", &[("redirect_uri", "")])).await;
    assert_on_page(&answer, "redirect_uri_mismatch", "none sent");
}

#[tokio::test]
async fn the_page_names_what_was_sent_and_nothing_that_is_registered() {
    let op = Op::start().await;
    let sent = "https://evil.example/<script>alert(1)</script>\u{202e}\"&quot;";
    let answer = op.browser().get(&authorize(WEB, "openid", &[("redirect_uri", sent), ("state", "st&lt;")])).await;
    assert_on_page(&answer, "redirect_uri_mismatch", sent);
    let text = answer.page().text;
    assert!(text.contains("https://evil.example/<script>alert(1)</script>%E2%80%AE\"&quot;"), "{text}");
    assert!(text.contains("client_id") && text.contains("web"), "{text}");
    assert!(!answer.body.contains("<script>") && !answer.body.contains('\u{202e}'), "{}", answer.body);
    assert!(!answer.body.contains("app.example"), "nothing registered: {}", answer.body);
    assert!(!answer.body.contains("Web shop"), "no more is said about the client than was sent: {}", answer.body);
    // A reference to find it again.
    assert!(text.contains(answer.header("x-request-id").expect("a request id")), "{text}");

    let long = format!("https://evil.example/{}", "x".repeat(10_000));
    let answer = op.browser().get(&authorize(WEB, "openid", &[("redirect_uri", &long)])).await;
    assert_on_page(&answer, "redirect_uri_mismatch", "long");
    assert!(answer.body.len() < 8_000, "{}", answer.body.len());
}

#[tokio::test]
async fn an_unknown_client_gets_a_page_with_the_name_as_text() {
    let op = Op::start().await;
    for client_id in ["<img src=x onerror=alert(1)>", "WEB", "web ", "nobody"] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("client_id", client_id)])).await;
        assert_on_page(&answer, "unknown_client", client_id);
        assert!(answer.page().text.contains(client_id.trim_end()), "{}", answer.page().text);
        assert!(!answer.body.contains("<img src=x"), "{}", answer.body);
    }
    let answer = op.browser().get(&authorize(WEB, "openid", &[("client_id", "")])).await;
    assert_on_page(&answer, "unknown_client", "none sent");
    // A service without a code flow has nowhere to be sent.
    let answer = op.browser().get(&authorize(WEB, "openid", &[("client_id", "api")])).await;
    assert_on_page(&answer, "redirect_uri_mismatch", "api");
}

#[tokio::test]
async fn a_query_of_the_address_itself_is_kept() {
    let op = Op::start().await;
    let location = works(&op, WEB, "https://app.example/cb?bar=foo").await;
    assert!(location.starts_with("https://app.example/cb?bar=foo&code="), "{location}");
    let uri = [("redirect_uri", "https://app.example/cb?bar=foo"), ("prompt", "none")];
    let answer = op.browser().get(&authorize(WEB, "openid", &uri)).await;
    assert!(
        answer.location().starts_with("https://app.example/cb?bar=foo&error=login_required"),
        "{}",
        answer.location()
    );
}
