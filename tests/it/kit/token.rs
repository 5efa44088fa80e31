//! What tests of the token endpoint and its neighbours share.

use std::sync::Arc;

use doorward::clock::Clock;
use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::grant::Grant;
use doorward::domain::model::realm::{MAIN_REALM, Realm};
use doorward::domain::model::secret::Secret;
use doorward::domain::model::user::User;
use doorward::domain::protocol::refresh_token_text;
use doorward::domain::signin::identifier;
use doorward::service::admin::{self, Scribe};
use doorward::store::repo;
use doorward::store::repo::audit::{AuditFilter, StoredAudit};
use josekit::jws::{ES256, EdDSA, JwsVerifier, PS256, RS256};
use serde_json::Value;
use tokio::task::JoinSet;

use super::browser::{Answer, Browser};
use super::flow::{Client, WEB, code, introspect, redeem, refresh, text, userinfo};
use super::op::Op;

/// A refusal in the form of RFC 6749 section 5.2, which nobody may keep.
#[track_caller]
pub fn refused(answer: &Answer, status: u16, error: &str) {
    let body = answer.json();
    assert_eq!((answer.status.as_u16(), body["error"].as_str()), (status, Some(error)), "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let description = body["error_description"].as_str().expect("words for the developer");
    assert!(description.bytes().all(|b| matches!(b, 0x20..=0x7e) && b != b'"' && b != b'\\'), "{description}");
    let known = ["error", "error_description"];
    assert!(body.as_object().expect("an object").keys().all(|name| known.contains(&name.as_str())), "{body}");
    assert_eq!(status == 401, answer.header("www-authenticate").is_some(), "a challenge exactly with 401");
}

/// The answer of a token endpoint that gave tokens.
#[track_caller]
pub fn given(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    answer.json()
}

/// Runs `count` requests at once, on as many threads as the test has.
pub async fn at_once<F>(count: usize, make: impl Fn(usize) -> F) -> Vec<Answer>
where
    F: Future<Output = Answer> + Send + 'static,
{
    let mut running = JoinSet::new();
    for number in 0..count {
        running.spawn(make(number));
    }
    running.join_all().await
}

/// The same code, presented so many times at once.
pub async fn redeem_at_once(op: &Arc<Op>, client: Client, code: &str, count: usize) -> Vec<Answer> {
    at_once(count, |_| {
        let (op, code) = (op.clone(), code.to_owned());
        async move { redeem(&op, client, &code).await }
    })
    .await
}

/// Whether the access token works at userinfo and is active for the client; both must agree.
pub async fn works(op: &Op, client: Client, tokens: &Value) -> bool {
    let access = text(tokens, "access_token");
    let at_userinfo = userinfo(op, access).await.status == 200;
    if client.secret.is_some() {
        let seen = introspect(op, client, access).await;
        assert_eq!(seen["active"], at_userinfo, "{seen}");
    }
    at_userinfo
}

/// Neither the access token nor the refresh token is worth anything.
pub async fn assert_dead(op: &Op, client: Client, tokens: &Value) {
    assert!(!works(op, client, tokens).await, "the access token works");
    refused(&refresh(op, client, text(tokens, "refresh_token")).await, 400, "invalid_grant");
}

/// Both work; gives what the refresh gave.
pub async fn assert_alive(op: &Op, client: Client, tokens: &Value) -> Value {
    assert!(works(op, client, tokens).await, "the access token does not work");
    given(&refresh(op, client, text(tokens, "refresh_token")).await)
}

/// A sign-in of alice at the confidential client.
pub async fn signed_in(op: &Op) -> Value {
    signed_in_with(op, &mut op.browser(), "openid profile").await
}

/// As [`signed_in`], in this browser, with this scope.
pub async fn signed_in_with(op: &Op, browser: &mut Browser<'_>, scope: &str) -> Value {
    let code = code(browser, WEB, scope).await;
    given(&redeem(op, WEB, &code).await)
}

/// Header and payload of a JWT whose signature a key of the published set verifies.
pub async fn verified(op: &Op, jwt: &str) -> (Value, Value) {
    let jwks = op.get("/.well-known/jwks.json", &[]).await.json();
    let (header, _) = super::flow::decode(jwt);
    let found: Vec<_> =
        jwks["keys"].as_array().expect("keys").iter().filter(|key| key["kid"] == header["kid"]).collect();
    let [key] = found.as_slice() else { panic!("{} keys for {header}", found.len()) };
    assert_eq!(key["alg"], header["alg"], "the key is for this algorithm");
    let jwk = josekit::jwk::Jwk::from_map(key.as_object().expect("a key").clone()).expect("a JWK");
    let verifier: Box<dyn JwsVerifier> = match text(&header, "alg") {
        "RS256" => Box::new(RS256.verifier_from_jwk(&jwk).expect("a verifier")),
        "PS256" => Box::new(PS256.verifier_from_jwk(&jwk).expect("a verifier")),
        "ES256" => Box::new(ES256.verifier_from_jwk(&jwk).expect("a verifier")),
        "EdDSA" => Box::new(EdDSA.verifier_from_jwk(&jwk).expect("a verifier")),
        other => panic!("algorithm {other}"),
    };
    let (payload, _) = josekit::jws::deserialize_compact(jwt, &*verifier).expect("a genuine signature");
    (header, serde_json::from_slice(&payload).expect("claims"))
}

/// The names of an object's members, sorted.
pub fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Now, in seconds.
pub fn seconds(op: &Op) -> i64 {
    op.clock.now().as_secs()
}

/// The main realm's row.
pub async fn db_realm(op: &Op) -> Realm {
    admin::realm::find(&op.app, MAIN_REALM).await.expect("an answer").expect("the main realm")
}

/// An account's row.
pub async fn db_user(op: &Op, name: &str) -> User {
    let realm = db_realm(op).await;
    let name = identifier::canonical(name).expect("a name");
    repo::user::find_by_username(&op.app.store.read(), realm.id, &name).await.expect("an answer").expect("the user")
}

/// The audit events of a kind, newest first.
pub async fn db_audit(op: &Op, kind: AuditKind) -> Vec<StoredAudit> {
    op.app.store.batch().flush().await.expect("flushed");
    let realm = db_realm(op).await;
    let filter = AuditFilter { kind: Some(kind), ..AuditFilter::default() };
    repo::audit::list(&op.app.store.read(), realm.id, filter, 100).await.expect("an answer")
}

/// The grant of a refresh token.
pub async fn db_grant(op: &Op, refresh_token: &str) -> Grant {
    let (token, _) = refresh_token_text::parse(refresh_token).expect("a refresh token");
    let realm = db_realm(op).await;
    repo::grant::find(&op.app.store.read(), realm.id, token.grant).await.expect("an answer").expect("the grant")
}

/// An administrator gives alice another password.
pub async fn db_set_password(op: &Op, password: &str) {
    let (realm, user) = (db_realm(op).await, db_user(op, "alice").await);
    admin::user::set_password(&op.app, &realm, &user, &Secret::from(password)).await.expect("a new password");
}

/// An administrator disables alice.
pub async fn db_disable(op: &Op) {
    assert!(admin::user::switch(&op.app, &db_user(op, "alice").await, false).await.expect("disabled"));
}

/// An administrator deletes alice.
pub async fn db_delete_user(op: &Op) {
    let user = db_user(op, "alice").await;
    let scribe = Scribe::operator(&op.app, user.realm, op.app.clock.now());
    let mut tx = op.app.store.begin().await.expect("a transaction");
    admin::user::delete(&mut tx, &scribe, &user).await.expect("deleted");
    tx.commit().await.expect("committed");
}

/// An administrator deletes a client.
pub async fn db_delete_client(op: &Op, client_id: &str) {
    let realm = db_realm(op).await;
    let client = admin::client::find(&op.app, &realm, client_id).await.expect("an answer").expect("the client");
    let mut tx = op.app.store.begin().await.expect("a transaction");
    repo::client::delete(&mut tx, realm.id, client.key, op.app.clock.now()).await.expect("deleted");
    tx.commit().await.expect("committed");
}
