//! What a refresh gives: asked, granted, consented and registered, as of now (`security-design` rule 2).

use doorward::store::repo;

use super::refresh_with;
use crate::kit::flow::{ASKER, WEB, code, decode, introspect, redeem, refresh, text, userinfo};
use crate::kit::op::Op;
use crate::kit::token::{
    assert_alive, assert_dead, db_grant, db_realm, db_user, given, refused, signed_in_with, works,
};

#[tokio::test]
async fn narrowing_touches_only_that_access_token() {
    let op = Op::start().await;
    let first = signed_in_with(&op, &mut op.browser(), "openid profile email").await;
    let terms = db_grant(&op, text(&first, "refresh_token")).await.terms;
    let narrow = given(&refresh_with(&op, WEB, text(&first, "refresh_token"), &[("scope", "openid email")]).await);
    assert_eq!(text(&narrow, "scope"), "openid email");
    let seen = userinfo(&op, text(&narrow, "access_token")).await.json();
    assert_eq!((seen["email"].as_str(), seen.get("name")), (Some("alice@example.com"), None));
    let whole = given(&refresh(&op, WEB, text(&narrow, "refresh_token")).await);
    assert_eq!(text(&whole, "scope"), "openid profile email");
    assert_eq!(
        db_grant(&op, text(&first, "refresh_token")).await.terms,
        terms,
        "what was granted is never written again"
    );
    // An empty parameter counts as absent, repeats and order do not matter.
    let whole = given(&refresh_with(&op, WEB, text(&whole, "refresh_token"), &[("scope", "")]).await);
    let some = [("scope", "email openid  email")];
    let some = given(&refresh_with(&op, WEB, text(&whole, "refresh_token"), &some).await);
    assert_eq!(text(&some, "scope"), "openid email");
}

#[tokio::test]
async fn without_openid_no_id_token_comes_back() {
    let op = Op::start().await;
    let first = signed_in_with(&op, &mut op.browser(), "openid profile").await;
    let narrow = given(&refresh_with(&op, WEB, text(&first, "refresh_token"), &[("scope", "profile")]).await);
    assert!(narrow.get("id_token").is_none(), "{narrow}");
    assert_eq!(userinfo(&op, text(&narrow, "access_token")).await.status, 403);
}

#[tokio::test]
async fn scope_never_grows() {
    let op = Op::start().await;
    let first = signed_in_with(&op, &mut op.browser(), "openid profile").await;
    let token = text(&first, "refresh_token");
    for scope in ["openid email", "offline_access", "openid profile nothing", "OPENID"] {
        refused(&refresh_with(&op, WEB, token, &[("scope", scope)]).await, 400, "invalid_scope");
    }
    // Nor after a narrowed one in between, nor by a wider sign-in of the same session.
    let narrow = given(&refresh_with(&op, WEB, token, &[("scope", "openid")]).await);
    refused(
        &refresh_with(&op, WEB, text(&narrow, "refresh_token"), &[("scope", "openid email")]).await,
        400,
        "invalid_scope",
    );
    given(&refresh_with(&op, WEB, text(&narrow, "refresh_token"), &[("scope", "openid profile")]).await);
}

#[tokio::test]
async fn what_the_client_lost_since_is_not_given_again() {
    let op = Op::start().await;
    let first = signed_in_with(&op, &mut op.browser(), "openid profile email").await;
    op.apply("realm: main\nclients:\n  - { client_id: web, scope: \"openid profile\" }\n").await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    assert_eq!(text(&second, "scope"), "openid profile");
    refused(&refresh_with(&op, WEB, text(&second, "refresh_token"), &[("scope", "email")]).await, 400, "invalid_scope");
}

#[tokio::test]
async fn a_withdrawn_consent_is_the_end_of_refreshing() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), ASKER, "openid profile offline_access").await;
    let first = given(&redeem(&op, ASKER, &code).await);
    let second = given(&refresh(&op, ASKER, text(&first, "refresh_token")).await);
    let (realm, user) = (db_realm(&op).await, db_user(&op, "alice").await);
    let grant = db_grant(&op, text(&first, "refresh_token")).await;
    let mut tx = op.app.store.begin().await.unwrap();
    repo::consent::delete(&mut tx, realm.id, user.id, grant.client).await.unwrap();
    tx.commit().await.unwrap();
    refused(&refresh(&op, ASKER, text(&second, "refresh_token")).await, 400, "invalid_grant");
}

#[tokio::test]
async fn two_grants_of_one_session_are_two_families() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let wide_code = code(&mut browser, WEB, "openid profile email").await;
    let narrow_code = code(&mut browser, WEB, "openid").await;
    let wide = given(&redeem(&op, WEB, &wide_code).await);
    let narrow = given(&redeem(&op, WEB, &narrow_code).await);
    let sid = |tokens| decode(text(tokens, "id_token")).1["sid"].clone();
    assert_eq!(sid(&wide), sid(&narrow));
    let wide = given(&refresh(&op, WEB, text(&wide, "refresh_token")).await);
    let narrow = given(&refresh(&op, WEB, text(&narrow, "refresh_token")).await);
    assert_eq!((text(&wide, "scope"), text(&narrow, "scope")), ("openid profile email", "openid"));
    refused(
        &refresh_with(&op, WEB, text(&narrow, "refresh_token"), &[("scope", "openid email")]).await,
        400,
        "invalid_scope",
    );
    // One is replayed; the other lives unchanged.
    let row = db_grant(&op, text(&narrow, "refresh_token")).await;
    refused(&redeem(&op, WEB, &wide_code).await, 400, "invalid_grant");
    assert_dead(&op, WEB, &wide).await;
    assert_eq!(db_grant(&op, text(&narrow, "refresh_token")).await, row);
    let next = assert_alive(&op, WEB, &narrow).await;
    assert_eq!(text(&introspect(&op, WEB, text(&next, "access_token")).await, "scope"), "openid");
    assert!(works(&op, WEB, &next).await);
}
