//! Consent: asked in words, remembered, widened, refused; hostile text (B-40), carried addresses (B-41).

use http::Method;

use crate::kit::browser::Browser;
use crate::kit::flow::{ASKER, Client, NATIVE, WEB, authorize, code, code_answer, id_claims};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_set_password;

/// Signs alice in for another client, then opens the request.
async fn asked<'op>(op: &'op Op, scope: &str, extra: &[(&str, &str)]) -> Browser<'op> {
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let answer = browser.get(&authorize(ASKER, scope, extra)).await;
    assert!(answer.page().has_id("consent-allow"), "{} {}", answer.status, answer.body);
    browser
}

fn text(browser: &Browser<'_>) -> String {
    browser.at.as_ref().expect("a page").page().text
}

#[tokio::test]
async fn the_page_says_in_words_who_asks_for_what_and_where_it_goes() {
    let op = Op::start().await;
    let browser = asked(&op, "openid profile email", &[]).await;
    let page = text(&browser);
    for words in [
        "Asking app wants to use your account",
        "alice",
        "See your profile",
        "See your email address",
        "never sees your password",
        "Afterwards you go to asker.example",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("while you are away"), "{page}");
    let browser = asked(&op, "openid offline_access", &[]).await;
    assert!(text(&browser).contains("Use this access while you are away, until you remove it"), "{}", text(&browser));
}

#[tokio::test]
async fn what_was_allowed_is_remembered_for_this_person_and_client() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[]).await;
    let answer = browser.submit("consent-allow", &[]).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    // Fewer, the same, in another browser: not asked.
    for scope in ["openid", "profile openid"] {
        let mut other = op.browser();
        other.get(&authorize(ASKER, scope, &[])).await;
        let answer = other.sign_in("alice", PASSWORD).await;
        assert!(answer.location_param("code").is_some(), "{scope}: {} {}", answer.status, answer.body);
    }
    // Another person is.
    let mut bob = op.browser();
    bob.get(&authorize(ASKER, "openid", &[])).await;
    let answer = bob.sign_in("bob", "bob has a long password").await;
    assert!(answer.page().has_id("consent-allow"), "{}", answer.body);
}

#[tokio::test]
async fn only_new_scopes_are_asked_with_the_old_ones_folded() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[]).await;
    browser.submit("consent-allow", &[]).await;
    let answer = browser.get(&authorize(ASKER, "openid profile email", &[])).await;
    let page = answer.page();
    assert!(page.text.contains("This is new") && page.text.contains("What you allowed before"), "{}", page.text);
    let (new, known) = answer.body.split_once("<details>").expect("folded");
    assert!(new.contains("See your email address") && !new.contains("See your profile"), "{new}");
    assert!(known.contains("See your profile") && !known.contains("See your email address"), "{known}");
    browser.submit("consent-allow", &[]).await;
    // Widened, not replaced.
    let answer = browser.get(&authorize(ASKER, "openid profile email", &[("prompt", "none")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}

#[tokio::test]
async fn no_means_no_and_is_not_remembered() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[("state", "the state")]).await;
    let page = browser.at.clone();
    let answer = browser.submit("consent-deny", &[]).await;
    assert!(answer.location().starts_with("https://asker.example/cb?error=access_denied"), "{}", answer.location());
    assert_eq!(answer.location_param("state").as_deref(), Some("the state"));
    assert_eq!(answer.location_param("iss").as_deref(), Some("http://localhost:8080"));
    let silent = browser.get(&authorize(ASKER, "openid profile", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("consent_required"));
    // Back, and yes after all.
    browser.at = page;
    let answer = browser.submit("consent-allow", &[]).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}

#[tokio::test]
async fn prompt_consent_asks_whoever_the_client_is() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[]).await;
    browser.submit("consent-allow", &[]).await;
    for client in [ASKER, WEB] {
        let answer = browser.get(&authorize(client, "openid profile", &[("prompt", "consent")])).await;
        assert!(answer.page().has_id("consent-allow"), "{}: {}", client.id, answer.body);
        let answer = browser.submit("consent-allow", &[]).await;
        assert!(answer.location_param("code").is_some(), "{}: {}", client.id, answer.location());
        // Said once, it does not hold for the next request.
        let answer = browser.get(&authorize(client, "openid profile", &[("prompt", "consent")])).await;
        assert!(answer.page().has_id("consent-allow"), "{}: {}", client.id, answer.body);
    }
}

#[tokio::test]
async fn a_client_that_anybody_could_play_is_asked_about_each_time() {
    let op = Op::start().await;
    op.apply("realm: main\nclients:\n  - client_id: native\n    consent: ask\n").await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for _ in 0..2 {
        let answer = browser.get(&authorize(NATIVE, "openid profile", &[])).await;
        assert!(answer.page().has_id("consent-allow"), "{}", answer.body);
        browser.submit("consent-allow", &[]).await;
    }
    let answer = browser.get(&authorize(NATIVE, "openid profile", &[("prompt", "none")])).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("consent_required"));
}

#[tokio::test]
async fn another_account_can_be_chosen() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[("state", "s1")]).await;
    let choice = browser.submit("consent-switch", &[]).await;
    assert!(choice.page().has_id("choose-1") && choice.page().text.contains("alice"), "{}", choice.body);
    let answer = browser.submit("another-account", &[]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(browser.form("login-submit").value("username").as_deref(), Some(""), "not the present one's name");
    assert!(!answer.page().text.contains("Confirm it\u{2019}s you"), "{}", answer.page().text);
    let answer = browser.sign_in("bob", "bob has a long password").await;
    assert!(answer.page().text.contains("bob"), "{}", answer.page().text);
    let answer = browser.submit("consent-allow", &[]).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("s1"));
    let alice = id_claims(&op, WEB, &code_answer(&mut op.browser(), WEB, "openid", &[]).await).await;
    assert_ne!(id_claims(&op, ASKER, &answer).await["sub"], alice["sub"]);
}

#[tokio::test]
async fn a_forged_yes_is_not_taken() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[]).await;
    let fields = browser.form("consent-allow").filled("consent-allow", &[]);
    let ours = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];
    let theirs = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    let without: Vec<_> = fields.iter().filter(|(name, _)| name != "csrf").cloned().collect();
    for (fields, headers, status) in [(&fields, &theirs, 403), (&without, &ours, 422)] {
        let answer = browser.send(Method::POST, "/consent", Some(fields), headers).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(answer.page().has_id("consent-allow"), "asked again");
        let silent = browser.get(&authorize(ASKER, "openid profile", &[("prompt", "none")])).await;
        assert_eq!(silent.location_param("error").as_deref(), Some("consent_required"));
    }
    // The sign-in page's token does not fit here, and another browser cannot use this flow.
    let mut other = op.browser();
    code(&mut other, WEB, "openid").await;
    let answer = other.send(Method::POST, "/consent", Some(&fields), &ours).await;
    let answer = other.follow(answer).await;
    assert!(answer.page().has_id("consent-allow") && answer.header("location").is_none(), "{}", answer.body);
    let silent = other.get(&authorize(ASKER, "openid profile", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("consent_required"));
}

#[tokio::test]
async fn a_yes_after_the_password_was_changed_elsewhere_needs_a_new_sign_in() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[("state", "s1")]).await;
    db_set_password(&op, "alice", "another long password").await;
    let answer = browser.submit("consent-allow", &[]).await;
    assert!(answer.page().has_id("login-submit"), "{} {}", answer.status, answer.body);
    assert_eq!(browser.sign_in("alice", PASSWORD).await.status, 422);
    let answer = browser.sign_in("alice", "another long password").await;
    assert!(answer.page().has_id("consent-allow"), "the yes was not taken: {}", answer.body);
    let answer = browser.submit("consent-allow", &[]).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("s1"));
}

#[tokio::test]
async fn the_consent_page_cannot_be_reached_without_a_sign_in() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let login = browser.get(&authorize(ASKER, "openid", &[])).await;
    let answer = browser.get(&login.url.replace("/login?", "/consent?")).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    for path in ["/consent", "/consent?flow=", "/consent?flow=x", "/login", "/login?flow=AAAAAAAAAAAAAAAAAAAAAA"] {
        let answer = browser.get(path).await;
        assert!(answer.status == 400 && answer.page().has_id("onward"), "{path}: {}", answer.body);
    }
}

const HOSTILE: Client =
    Client { id: "hostile", secret: None, in_body: false, redirect_uri: "https://hostile.example/cb" };

#[tokio::test]
async fn hostile_text_stands_on_pages_as_text() {
    let op = Op::start().await;
    op.apply(
        "realm: main\nclients:\n  - client_id: hostile\n    client_name: \"<b>Bank</b>\\u202Ekcab\\\"'&amp;\"\n    \
         token_endpoint_auth_method: none\n    redirect_uris: [ \"https://hostile.example/cb\" ]\n    \
         grant_types: [ authorization_code ]\n    scope: openid profile\n",
    )
    .await;
    let mut browser = op.browser();
    let state = "\"></form><script>alert(1)</script>";
    let extra = [("state", state), ("login_hint", "<svg onload=x>"), ("response_mode", "form_post"), ("nonce", "<i>")];
    let mut answer = browser.get(&authorize(HOSTILE, "openid profile", &extra)).await;
    for step in ["login", "wrong", "consent", "form"] {
        for forbidden in ["<b>Bank", "\u{202e}", "<script>", "<svg onload", "</form><", "<i>"] {
            assert!(!answer.body.contains(forbidden), "{step}: {forbidden} in {}", answer.body);
        }
        assert!(answer.page().text.contains("<b>Bank</b>kcab\"'&amp;"), "{step}: {}", answer.page().text);
        answer = match step {
            "login" => browser.sign_in("alice", "<script>").await,
            "wrong" => browser.sign_in("alice", PASSWORD).await,
            "consent" => browser.submit("consent-allow", &[]).await,
            _ => answer,
        };
    }
    let form = answer.page().form_with("form-post-submit").expect("a form");
    assert_eq!(form.value("state").as_deref(), Some(state));
}

#[tokio::test]
async fn an_unknown_client_is_named_as_text_and_an_unknown_type_is_not_echoed() {
    let op = Op::start().await;
    let image = "<img src=x onerror=alert(1)>";
    let page = op.browser().get(&authorize(WEB, "openid", &[("client_id", image)])).await;
    assert_eq!(page.status, 400);
    assert!(!page.body.contains("<img src=x") && page.page().text.contains(image), "{}", page.body);
    for target in ["javascript:alert(1)//", "data:text/html,<script>alert(1)</script>", "vbscript:x", "about:blank"] {
        let page = op.browser().get(&authorize(WEB, "openid", &[("redirect_uri", target)])).await;
        assert_eq!((page.status.as_u16(), page.header("location")), (400, None), "{target}");
        assert!(!page.body.contains("<script>alert"), "{}", page.body);
        assert!(page.page().links().iter().all(|link| !link.starts_with(&target[..5])), "{:?}", page.page().links());
    }
    let mixed = [("response_type", "id_token<script>alert(1)</script>"), ("response_mode", "form_post")];
    let answer = op.browser().get(&authorize(WEB, "openid", &mixed)).await;
    assert!(!answer.body.contains("<script>alert"), "{}", answer.body);
}

#[tokio::test]
async fn what_runs_in_a_browser_cannot_be_registered_anywhere() {
    let op = Op::start().await;
    for scheme in [
        "javascript:alert(1)//",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://a.example/x",
        "about:blank",
        " JavaScript:x",
    ] {
        for field in [
            "redirect_uris",
            "post_logout_redirect_uris",
            "logo_uri",
            "policy_uri",
            "tos_uri",
            "client_uri",
            "backchannel_logout_uri",
            "frontchannel_logout_uri",
        ] {
            let value = if field.ends_with('s') { format!("[ \"{scheme}\" ]") } else { format!("\"{scheme}\"") };
            let file = format!("realm: main\nclients:\n  - {{ client_id: web, {field}: {value} }}\n");
            let said = op.try_apply(&file).await.expect_err(&file);
            assert!(said.contains(field), "{file}: {said}");
        }
    }
}

#[tokio::test]
async fn no_page_carries_or_follows_an_address() {
    let op = Op::start().await;
    let mut browser = asked(&op, "openid profile", &[]).await;
    let consent = browser.at.clone().expect("a page").url;
    assert!(browser.form("consent-allow").filled("", &[]).iter().all(|(_, value)| !value.contains("://")));
    let mut fresh = op.browser();
    let login = fresh.get(&authorize(WEB, "openid", &[])).await.url;
    assert!(fresh.form("login-submit").filled("", &[]).iter().all(|(_, value)| !value.contains("://")));
    assert!(!login.contains("app.example") && !consent.contains("asker.example"), "{login} {consent}");

    for target in [
        "/%5Cevil.example",
        "/%09/evil.example",
        "//evil.example",
        "/%2F%2Fevil.example",
        "http:evil.example",
        "https://evil-allowed.example",
        "https://app.example@evil.example",
        "/a/..//evil.example",
        "/x%0D%0ALocation:%20https://evil.example",
    ] {
        for name in ["return_to", "redirect_uri", "url"] {
            for page in [login.as_str(), consent.as_str(), "/", "/logout", "/login/start?request=x"] {
                let mark = if page.contains('?') { '&' } else { '?' };
                for browser in [&mut browser, &mut fresh] {
                    let url = format!("{page}{mark}{name}={target}");
                    let answer = browser.send(Method::GET, &url, None, &[("sec-fetch-site", "none")]).await;
                    if let Some(location) = answer.header("location") {
                        let there = op.resolve(&answer.url, location);
                        // Who is signed in may be sent on to the client of the request itself.
                        let is_clients = there.starts_with("https://app.example/cb?code=");
                        assert!((op.is_ours(&there) || is_clients) && !there.contains("evil"), "{url}: {location}");
                    }
                    // The page's own language links repeat its query; nothing leads away.
                    let links =
                        answer.page().links().into_iter().filter(|link| !op.is_ours(&op.resolve(&answer.url, link)));
                    assert_eq!(links.count(), 0, "{url}: {:?}", answer.page().links());
                }
            }
        }
    }
}

#[tokio::test]
async fn line_breaks_in_a_carried_request_do_not_split_an_answer() {
    let op = Op::start().await;
    for request in ["a=\r\nSet-Cookie: x=1", "post_logout_redirect_uri=//evil.example&\u{e9}=\n", "#//evil.example"] {
        let answer = op.post("/logout/confirm", &[("request", request)], &[]).await;
        assert_eq!(answer.status, 303, "{request:?}: {}", answer.body);
        assert!(
            answer.location().starts_with("/logout?") && answer.header("set-cookie").is_none(),
            "{}",
            answer.location()
        );
        assert!(!answer.location().contains('#'), "{}", answer.location());
    }
}
