//! What was given through the browser ends with its session, at once, and its client is told.

use doorward::domain::model::session::EndReason;
use doorward::store::repo;
use doorward::tasks::backchannel_logout;

use super::{CAREFUL, OLD, fields, start, start_with_tokens};
use crate::kit::browser::Browser;
use crate::kit::flow::{API, authorize, decode, introspect, text, userinfo};
use crate::kit::op::Op;
use crate::kit::receiver::Receiver;
use crate::kit::token::{db_audit, db_disable, db_realm, db_set_password};
use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::client::GrantType;

async fn sign_out(browser: &mut Browser<'_>) {
    let asked = browser.get("/logout").await;
    assert!(asked.page().has_id("logout-yes"), "{}", asked.body);
    browser.submit("logout-yes", &[]).await;
}

#[tokio::test]
async fn an_access_token_ends_at_once_with_its_session() {
    for way in ["logout", "password", "disabled"] {
        let op = start_with_tokens().await;
        let mut browser = op.browser();
        let wish = [("response_type", "code token"), ("resource", "https://api.example")];
        // Even where the code beside it may outlive the session.
        let fields = fields(&mut browser, OLD, "openid read offline_access", &wish).await;
        let token = &fields["access_token"];
        assert!(introspect(&op, API, token).await["active"] == true && userinfo(&op, token).await.status == 200);
        match way {
            "logout" => sign_out(&mut browser).await,
            "password" => db_set_password(&op, "another horse battery").await,
            _ => db_disable(&op).await,
        }
        op.poll().await;
        assert_eq!(introspect(&op, API, token).await["active"], false, "{way}");
        assert_eq!(userinfo(&op, token).await.status, 401, "{way}");
    }
}

#[tokio::test]
async fn a_grant_without_refresh_stands_behind_each_act() {
    let op = start_with_tokens().await;
    let mut browser = op.browser();
    let fields = fields(&mut browser, OLD, "openid offline_access", &[("response_type", "code id_token token")]).await;
    let (_, claims) = decode(&fields["access_token"]);
    let (realm, id) = (db_realm(&op).await, text(&claims, "gid").parse().expect("an id"));
    let grant = repo::grant::find(&op.app.store.read(), realm.id, id).await.expect("readable").expect("the grant");
    assert_eq!((grant.grant_type, grant.code, grant.refresh_secret_hash), (GrantType::Implicit, None, None));
    assert!(!grant.terms.offline && grant.terms.scope == ["openid"], "{:?}", grant.terms);
    let made = db_audit(&op, AuditKind::GrantMade).await;
    assert!(made.iter().any(|event| event.grant == Some(id)), "{made:?}");
    sign_out(&mut browser).await;
    let grant = repo::grant::find(&op.app.store.read(), realm.id, id).await.expect("readable").expect("the grant");
    assert_eq!(grant.ended.map(|ended| ended.reason), Some(EndReason::SessionEnded));
}

#[tokio::test]
async fn whoever_was_told_of_a_sign_in_is_told_of_its_end() {
    for kind in ["id_token", "code id_token"] {
        let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
        op.apply(super::CLIENTS).await;
        op.apply(&receiver.realm(&["old"])).await;
        let mut browser = op.browser();
        // The code is never redeemed.
        let fields = fields(&mut browser, OLD, "openid", &[("response_type", kind)]).await;
        sign_out(&mut browser).await;
        op.app.store.batch().flush().await.expect("flushed");
        let sent = backchannel_logout::run_once(&op.app, op.app.clock.now()).await.expect("the store answers");
        assert_eq!(sent, 1, "{kind}");
        let came = receiver.came("/old");
        let claims = came.first().expect("a notice").claims(&op).await;
        let (_, id) = decode(&fields["id_token"]);
        assert_eq!((&claims["sid"], &claims["sub"]), (&id["sid"], &id["sub"]), "{kind}");
    }
}

#[tokio::test]
async fn nothing_is_given_once_the_session_has_ended_on_another_node() {
    for (prompt, error) in [("", "access_denied"), ("none", "login_required")] {
        let one = start().await;
        let two = Op::builder().beside(&one).start().await;
        let mut browser = one.browser();
        fields(&mut browser, OLD, "openid", &[("response_type", "id_token")]).await;
        let mut elsewhere = two.browser();
        elsewhere.steal(&browser, "");
        let wish = [("response_type", "id_token"), ("prompt", prompt)];
        fields(&mut elsewhere, OLD, "openid", &wish).await;
        sign_out(&mut browser).await;
        // Node two has not heard of it yet; the store decides.
        let answer = elsewhere.get(&authorize(OLD, "openid", &wish)).await;
        let told = answer.fragment();
        assert_eq!(told.get("error").map(String::as_str), Some(error), "{told:?}");
        assert!(!told.contains_key("id_token") && !told.contains_key("code"), "{told:?}");
        two.poll().await;
        let answer = elsewhere.get(&authorize(OLD, "openid", &[("response_type", "id_token")])).await;
        assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_client_that_was_disabled_gets_nothing_more() {
    let op = start().await;
    let mut browser = op.browser();
    fields(&mut browser, CAREFUL, "openid", &[("response_type", "id_token")]).await;
    op.apply("realm: main\nclients: [{ client_id: careful, enabled: false }]\n").await;
    let answer = browser.get(&authorize(CAREFUL, "openid", &[("response_type", "id_token")])).await;
    assert_eq!(answer.status, 400, "a page of ours: {}", answer.body);
}
