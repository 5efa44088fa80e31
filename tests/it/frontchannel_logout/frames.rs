//! Who is loaded, when, and within which bounds.

use std::fmt::Write as _;
use std::time::Duration;

use doorward::domain::protocol::frontchannel_logout::MOST_FRAMES;

use super::{FRAMED, OUT, frame, frames, logout, sign_in, sources, start};
use crate::kit::flow::{
    ASKER, NATIVE, OPAQUE, WEB, authorize, code_answer, post_as, redeem, sign_in_beside, text, tokens,
};
use crate::kit::op::Op;
use crate::kit::receiver::Receiver;

#[tokio::test]
async fn our_own_page_loads_them_too_and_stays() {
    let op = start().await;
    let mut browser = op.browser();
    let (_, claims) = sign_in(&op, &mut browser, WEB).await;
    let asked = browser.get("/logout").await;
    assert!(frames(&asked).is_empty() && sources(&asked, "frame-src").is_none(), "nothing before the yes");
    let page = browser.submit("logout-yes", &[]).await;
    assert_eq!(frames(&page), [frame("https://app.example/bye?tenant=a%2Fb", &claims["sid"])]);
    assert!(!page.body.contains("http-equiv") && !page.body.contains("signed-out-"), "it leads nowhere: {}", page.body);
    assert!(page.page().text.contains("You are signed out"), "{}", page.body);
}

#[tokio::test]
async fn a_yes_to_a_hint_of_another_session_loads_the_clients_of_this_one() {
    let op = start().await;
    let (mut here, mut there) = (op.browser(), op.browser());
    let (_, own) = sign_in(&op, &mut here, OPAQUE).await;
    let (foreign, _) = sign_in(&op, &mut there, WEB).await;
    let asked = here.get(&logout(&[("id_token_hint", &foreign), ("post_logout_redirect_uri", OUT)])).await;
    assert!(asked.page().has_id("logout-yes"), "{}", asked.body);
    let page = here.submit("logout-yes", &[]).await;
    assert_eq!(frames(&page), [frame("https://opaque.example/bye", &own["sid"])]);
    assert_eq!(page.page().attribute("back", "href").as_deref(), Some(OUT));
}

#[tokio::test]
async fn without_clients_of_this_kind_the_way_leads_straight_back() {
    let back = |hint: &str| logout(&[("id_token_hint", hint), ("post_logout_redirect_uri", OUT), ("state", "s")]);
    let plain = "  - { client_id: web, frontchannel_logout_uri: null }\n";
    let off = "settings: { logout: { front_channel: false } }\n";
    for change in [format!("realm: main\nclients:\n{plain}"), format!("realm: main\n{off}")] {
        let op = start().await;
        op.apply(&change).await;
        let mut browser = op.browser();
        let (hint, _) = sign_in(&op, &mut browser, WEB).await;
        let answer = browser.get(&back(&hint)).await;
        assert_eq!((answer.status.as_u16(), answer.location()), (303, "https://app.example/out?state=s"), "{change}");
    }
}

#[tokio::test]
async fn the_clients_of_the_session_are_loaded_and_no_others() {
    let op = start().await;
    op.apply("realm: main\nclients:\n  - { client_id: native, redirect_uris: [ \"http://localhost:63785/callback\" ], frontchannel_logout_uri: \"http://localhost:63785/bye\" }\n").await;
    let (mut here, mut there) = (op.browser(), op.browser());
    // An ended grant: its client had an ID token all the same.
    let given_back = tokens(&op, &mut here, WEB, "openid").await;
    let fields = [("token", text(&given_back, "refresh_token"))];
    assert_eq!(post_as(&op, WEB, "/revoke", &fields).await.status, 200);
    op.advance(Duration::from_secs(1)).await;
    // A grant that outlives the session.
    tokens(&op, &mut here, ASKER, "openid offline_access").await;
    op.advance(Duration::from_secs(1)).await;
    let (_, claims) = sign_in(&op, &mut here, NATIVE).await;
    // Another session of the same person.
    sign_in(&op, &mut there, OPAQUE).await;
    here.get("/logout").await;
    let page = here.submit("logout-yes", &[]).await;
    let wanted = ["http://localhost:63785/bye", "https://asker.example/bye", "https://app.example/bye?tenant=a%2Fb"];
    assert_eq!(frames(&page), wanted.map(|uri| frame(uri, &claims["sid"])));
}

#[tokio::test]
async fn of_several_people_in_one_browser_the_one_who_signs_out_is_told_for() {
    let op = start().await;
    op.apply("realm: main\nsettings: { logout: { session_management: true } }\n").await;
    let mut browser = op.browser();
    let (alices, claims) = sign_in(&op, &mut browser, WEB).await;
    let alone = browser.cookie("-state-").expect("a state");
    sign_in_beside(&mut browser, "bob", "bob has a long password").await;
    // He uses another application.
    let answer = code_answer(&mut browser, OPAQUE, "openid", &[("login_hint", "bob")]).await;
    let code = answer.location_param("code").expect("a code");
    assert_eq!(redeem(&op, OPAQUE, &code).await.status, 200);
    let both = browser.cookie("-state-").expect("a state");
    assert_ne!(both, alone, "somebody signed in");
    // Alice's application signs her out: hers is loaded, his is not, and he stays.
    let page = browser.get(&logout(&[("id_token_hint", &alices)])).await;
    assert_eq!(frames(&page), [frame("https://app.example/bye?tenant=a%2Fb", &claims["sid"])]);
    let left = browser.cookie("-state-").expect("bob is still here");
    assert!(left != both && left != alone, "and what is watched has changed");
    browser.get("/logout").await;
    let page = browser.submit("logout-yes", &[]).await;
    assert!(frames(&page).iter().any(|uri| uri.starts_with("https://opaque.example/bye?")), "{}", page.body);
    assert_eq!(browser.cookie("-state-"), None, "nobody is left");
}

#[tokio::test]
async fn a_disabled_client_and_one_that_got_nothing_are_not_loaded() {
    let op = start().await;
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    sign_in(&op, &mut browser, ASKER).await;
    // A code that was never redeemed gave nothing.
    browser.get(&authorize(OPAQUE, "openid", &[])).await;
    op.apply("realm: main\nclients:\n  - { client_id: asker, enabled: false }\n").await;
    browser.get("/logout").await;
    let page = browser.submit("logout-yes", &[]).await;
    assert_eq!(sources(&page, "frame-src"), Some(vec!["https://app.example".to_owned()]));
    assert_eq!(frames(&page).len(), 1);
}

#[tokio::test]
async fn one_page_loads_so_many_and_the_rest_is_left_to_the_back_channel() {
    let op = start().await;
    let mut clients = String::from("realm: main\nclients:\n");
    let ids: Vec<String> = (0..MOST_FRAMES + 2).map(|n| format!("many{n}")).collect();
    for id in &ids {
        writeln!(
            clients,
            "  - {{ client_id: {id}, client_secret: \"web-secret-0123456789abcdef\", consent: skip, \
             redirect_uris: [ \"https://{id}.example/cb\" ], frontchannel_logout_uri: \"https://{id}.example/bye\" }}"
        )
        .expect("a text");
    }
    op.apply(&clients).await;
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    for id in &ids {
        op.advance(Duration::from_secs(1)).await;
        let redirect_uri: &'static str = format!("https://{id}.example/cb").leak();
        let client = crate::kit::flow::Client { id: id.clone().leak(), redirect_uri, ..WEB };
        sign_in(&op, &mut browser, client).await;
    }
    browser.get("/logout").await;
    let page = browser.submit("logout-yes", &[]).await;
    let loaded = frames(&page);
    assert_eq!(loaded.len(), MOST_FRAMES);
    for (id, uri) in ids.iter().rev().zip(&loaded) {
        assert!(uri.starts_with(&format!("https://{id}.example/bye?")), "the latest first: {id}, {uri}");
    }
    assert_eq!(sources(&page, "frame-src").map(|sources| sources.len()), Some(MOST_FRAMES));
}

#[tokio::test]
async fn a_client_that_registered_both_channels_is_told_by_both_and_others_by_their_own() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(FRAMED).await;
    op.apply(&receiver.realm(&["web"])).await;
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    sign_in(&op, &mut browser, ASKER).await;
    browser.get("/logout").await;
    let page = browser.submit("logout-yes", &[]).await;
    assert_eq!(frames(&page).len(), 2);
    op.app.store.batch().flush().await.expect("flushed");
    let now = doorward::clock::Clock::now(&*op.clock);
    assert_eq!(doorward::tasks::backchannel_logout::run_once(&op.app, now).await.expect("sent"), 1);
    assert_eq!(receiver.came("/web").len(), 1);
}

#[tokio::test]
async fn an_address_that_may_not_be_registered_is_refused_with_what_to_change() {
    let op = Op::start().await;
    let at = |client: &str, uri: &str| {
        format!("realm: main\nclients:\n  - {{ client_id: {client}, frontchannel_logout_uri: \"{uri}\" }}\n")
    };
    for (client, uri, told) in [
        ("web", "http://app.example/bye", "must use https; http is for localhost"),
        ("web", "https://app.example/bye#x", "must not have a fragment"),
        ("web", "https://other.example/bye", "scheme, host and port of one of the client's redirect_uris"),
        ("web", "https://app.example:8443/bye", "scheme, host and port of one of the client's redirect_uris"),
        ("web", "https://app.example/bye?sid=x", "must not have the query parameter sid"),
        ("web", "javascript:alert(1)", "must not use the scheme javascript"),
        ("native", "com.example.app:/bye", "must use https"),
        ("api", "https://app.example/bye", "scheme, host and port of one of the client's redirect_uris"),
    ] {
        let said = op.try_apply(&at(client, uri)).await.expect_err(uri);
        assert!(said.contains("frontchannel_logout_uri") && said.contains(told), "{uri}: {said}");
    }
    for (client, uri) in [("web", "https://app.example/bye?tenant=a"), ("native", "http://localhost/bye")] {
        op.try_apply(&at(client, uri)).await.unwrap_or_else(|said| panic!("{uri}: {said}"));
    }
}
