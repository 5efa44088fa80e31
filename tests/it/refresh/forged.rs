//! Tokens that were never issued (`security-design` rule 8): without the key they cost no query, with the
//! key they open nothing, and the alarm is raised.

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::ids::GrantId;
use doorward::domain::model::session::EndReason;
use doorward::domain::protocol::refresh_token_text::{self, GrantSecret, RefreshToken};
use doorward::domain::protocol::token_text::{self, TokenKind};
use doorward::seal::Purpose;
use doorward::store::repo;

use crate::kit::flow::{WEB, refresh, text};
use crate::kit::op::Op;
use crate::kit::token::{assert_alive, assert_dead, db_audit, db_grant, db_realm, given, refused, signed_in};

/// A token with a genuine tag: what somebody with the tag key can make.
pub(super) async fn db_tagged(op: &Op, token: &RefreshToken) -> String {
    let realm = db_realm(op).await;
    let tagged = token.tagged(realm.id, realm.restore_epoch);
    token.format(&op.app.sealer.tag(realm.id, Purpose::RefreshToken, &[&tagged])).expose().to_owned()
}

pub(super) fn parsed(token: &str) -> RefreshToken {
    refresh_token_text::parse(token).expect("a refresh token").0
}

/// Changes one byte under the checksum, and mends the checksum.
fn altered(token: &str, at: usize) -> String {
    let body = token_text::body(TokenKind::RefreshToken, token).expect("a refresh token");
    let mut body = body.to_owned().into_bytes();
    body[at] = if body[at] == b'A' { b'B' } else { b'A' };
    token_text::format(TokenKind::RefreshToken, &String::from_utf8(body).expect("ASCII"))
}

#[tokio::test]
async fn a_token_with_a_wrong_tag_is_refused_without_a_query() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let token = text(&tokens, "refresh_token");
    let forged: Vec<String> = (0..72).map(|at| altered(token, at)).collect();
    // Everything that comes before the tag is in memory now; the database is not there any more.
    refused(&refresh(&op, WEB, &forged[0]).await, 400, "invalid_grant");
    op.app.store.close().await;
    for forged in &forged {
        refused(&refresh(&op, WEB, forged).await, 400, "invalid_grant");
    }
    for garbage in
        ["x", "dwr_", "dwr_AAAA", &token[1..], &token[..token.len() - 1], &token.to_uppercase(), &"A".repeat(9_000)]
    {
        refused(&refresh(&op, WEB, garbage).await, 400, "invalid_grant");
    }
    let genuine = refresh(&op, WEB, token).await;
    assert_eq!(genuine.status, 503, "and this one asks it: {}", genuine.body);
}

#[tokio::test]
async fn a_genuine_tag_with_a_wrong_secret_is_refused_ends_nothing_and_raises_the_alarm() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let token = parsed(text(&tokens, "refresh_token"));
    let grant = db_grant(&op, text(&tokens, "refresh_token")).await;
    let stored = grant.refresh_secret_hash.expect("a refresh family").0;
    let mut guesses = vec![GrantSecret::new([0; 16])];
    // With a dump of the database, too: what rests there is no secret.
    guesses.extend([0, 16].map(|at| GrantSecret::new(stored[at..at + 16].try_into().expect("sixteen bytes"))));
    for (number, secret) in guesses.into_iter().enumerate() {
        for generation in [0, 1] {
            let forged = db_tagged(&op, &RefreshToken { secret: secret.clone(), generation, ..token.clone() }).await;
            refused(&refresh(&op, WEB, &forged).await, 400, "invalid_grant");
        }
        let alarms = db_audit(&op, AuditKind::KeyCompromiseSuspected).await;
        assert_eq!((alarms.len(), alarms[0].grant), (2 * (number + 1), Some(grant.id)));
    }
    assert_eq!(db_grant(&op, text(&tokens, "refresh_token")).await, grant);
    assert_alive(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn a_generation_that_was_never_given_ends_the_family_and_raises_the_alarm() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let token = parsed(text(&tokens, "refresh_token"));
    let ahead = db_tagged(&op, &RefreshToken { generation: 1, ..token }).await;
    refused(&refresh(&op, WEB, &ahead).await, 400, "invalid_grant");
    assert_dead(&op, WEB, &tokens).await;
    assert_eq!(db_grant(&op, &ahead).await.ended.unwrap().reason, EndReason::RefreshAhead);
    assert_eq!(db_audit(&op, AuditKind::KeyCompromiseSuspected).await.len(), 1);
}

#[tokio::test]
async fn a_genuine_tag_for_a_grant_that_is_not_there_is_refused() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let token = parsed(text(&tokens, "refresh_token"));
    let nowhere = db_tagged(&op, &RefreshToken { grant: GrantId::from_bytes([9; 16]), ..token.clone() }).await;
    refused(&refresh(&op, WEB, &nowhere).await, 400, "invalid_grant");
    let other_key = db_tagged(&op, &RefreshToken { key_id: 2, ..token }).await;
    refused(&refresh(&op, WEB, &other_key).await, 400, "invalid_grant");
    assert_alive(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn after_a_restore_nothing_from_before_is_good() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let mut realm = db_realm(&op).await;
    realm.restore_epoch += 1;
    let mut tx = op.app.store.begin().await.unwrap();
    repo::realm::update(&mut tx, &realm).await.unwrap();
    tx.commit().await.unwrap();
    refused(&refresh(&op, WEB, text(&tokens, "refresh_token")).await, 400, "invalid_grant");
    let anew = signed_in(&op).await;
    assert_alive(&op, WEB, &anew).await;
}

#[tokio::test]
async fn a_token_of_one_realm_is_nothing_in_another() {
    let op = Op::start().await;
    let other = crate::kit::op::REALM.replacen("realm: main", "realm: other", 1);
    op.apply(&other).await;
    let tokens = signed_in(&op).await;
    let fields = [("grant_type", "refresh_token"), ("refresh_token", text(&tokens, "refresh_token"))];
    refused(&crate::kit::flow::post_as(&op, WEB, "/realms/other/token", &fields).await, 400, "invalid_grant");
    given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
}
