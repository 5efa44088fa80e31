//! Tokens that were never issued (`security-design` rule 8): without the key they cost no query, with the
//! key they open nothing, and the alarm is raised.

use std::time::Duration;

use doorward::domain::model::audit::{Actor, AuditEvent, AuditKind};
use doorward::domain::model::grant::Grant;
use doorward::domain::model::ids::{CodeId, EventId, GrantId};
use doorward::domain::model::session::EndReason;
use doorward::domain::protocol::refresh_token_text::{self, GrantSecret, RefreshToken};
use doorward::domain::protocol::token_text::{self, TokenKind};
use doorward::entropy::{Entropy, SystemEntropy};
use doorward::seal::Purpose;
use doorward::store::batch::{RedeemCode, Redeemed};
use doorward::store::repo;

use crate::kit::flow::{WEB, code, redeem, refresh, text};
use crate::kit::op::Op;
use crate::kit::token::{assert_alive, assert_dead, db_audit, db_grant, db_realm, db_user, given, refused, signed_in};

/// A token with a genuine tag: what somebody with the tag key can make.
pub(super) async fn db_tagged(op: &Op, token: &RefreshToken) -> String {
    let realm = db_realm(op).await;
    let tagged = token.tagged(realm.id, realm.restore_epoch);
    token.format(&op.app.sealer.tag(realm.id, Purpose::RefreshToken, &[&tagged])).expose().to_owned()
}

/// What a restore does besides putting the rows back.
async fn raise_restore_epoch(op: &Op) {
    let mut realm = db_realm(op).await;
    realm.restore_epoch += 1;
    let mut tx = op.app.store.begin().await.unwrap();
    repo::realm::update(&mut tx, &realm).await.unwrap();
    tx.commit().await.unwrap();
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

/// A thousand refresh families of alice at the first client: their grants as they rest in the database.
async fn db_families(op: &Op, like: &Grant) -> Vec<Grant> {
    let epoch = db_user(op, "alice").await.credential_epoch;
    let mut made = Vec::new();
    for number in 0..1_000_u32 {
        let id = |purpose| SystemEntropy.uuid(purpose, like.created_at);
        let secret = GrantSecret::new(*id("secret").as_bytes());
        let grant = Grant {
            id: GrantId::from_uuid(id("grant")),
            code: Some(CodeId::from_uuid(id("code"))),
            refresh_secret_hash: Some(secret.hash()),
            generation: i64::from(number % 5),
            ..like.clone()
        };
        let redemption = RedeemCode {
            realm: like.realm,
            code: grant.code.expect("a code"),
            code_expires_at: like.created_at,
            grant: grant.clone(),
            credential_epoch: epoch,
            audit: AuditEvent {
                id: EventId::from_uuid(id("event")),
                realm: like.realm,
                at: like.created_at,
                kind: AuditKind::GrantMade,
                user: Some(like.user),
                client: Some(like.client),
                session: Some(like.session),
                grant: Some(grant.id),
                reason: None,
                actor: Actor::Client,
                address: None,
                request: None,
            },
        };
        assert_eq!(op.app.store.batch().redeem_code(redemption).await.expect("written"), Redeemed::Redeemed);
        made.push(grant);
    }
    made
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_tag_key_and_a_dump_nothing_can_be_forged_for_a_thousand_grants() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let token = parsed(text(&tokens, "refresh_token"));
    let like = db_grant(&op, text(&tokens, "refresh_token")).await;
    let mut forged = Vec::new();
    for grant in db_families(&op, &like).await {
        let stored = grant.refresh_secret_hash.expect("a refresh family").0;
        let generation = u32::try_from(grant.generation).expect("small");
        let part = |bytes: &[u8]| GrantSecret::new(bytes.try_into().expect("sixteen bytes"));
        // Whatever sixteen bytes the dump has of it, and at the generation that the row has.
        let guess = match forged.len() % 4 {
            0 => part(&stored[..16]),
            1 => part(&stored[16..]),
            2 => part(grant.id.as_bytes()),
            _ => part(grant.code.expect("a code").as_bytes()),
        };
        forged
            .push(db_tagged(&op, &RefreshToken { grant: grant.id, secret: guess, generation, ..token.clone() }).await);
    }
    assert_eq!(forged.len(), 1_000);
    for forged in &forged {
        refused(&refresh(&op, WEB, forged).await, 400, "invalid_grant");
    }
    op.app.store.batch().flush().await.expect("flushed");
    assert_eq!(op.db.number("select count(*) from grant_record where ended_at is not null").await, 0);
    let moved = format!("select count(*) from grant_record where rotated_at <> {}", like.rotated_at.as_micros());
    assert_eq!(op.db.number(&moved).await, 0, "nothing was rotated");
    let alarms = "select count(*) from audit_event where kind = 'key_compromise_suspected'";
    assert_eq!(op.db.number(alarms).await, 1_000);
    assert_alive(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn after_a_restore_of_yesterdays_database_nothing_spent_revives() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let code = code(&mut browser, WEB, "openid offline_access").await;
    let spent_later = crate::kit::flow::code(&mut browser, WEB, "openid offline_access").await;
    let yesterday = given(&redeem(&op, WEB, &code).await);
    for table in ["grant_record", "redemption", "session"] {
        op.db.run(&format!("create table kept_{table} as select * from {table}")).await;
    }
    let fresher = given(&redeem(&op, WEB, &spent_later).await);
    let rotated = given(&refresh(&op, WEB, text(&yesterday, "refresh_token")).await);
    op.advance(Duration::from_secs(86_400)).await;
    let today = given(&refresh(&op, WEB, text(&rotated, "refresh_token")).await);
    for table in ["grant_record", "redemption", "session"] {
        op.db.run(&format!("delete from {table}")).await;
        op.db.run(&format!("insert into {table} select * from kept_{table}")).await;
    }
    raise_restore_epoch(&op).await;
    // Who was current when the copy was made is spent since; who came later is not there any more.
    for tokens in [&yesterday, &rotated, &today, &fresher] {
        refused(&refresh(&op, WEB, text(tokens, "refresh_token")).await, 400, "invalid_grant");
    }
    for code in [&code, &spent_later] {
        refused(&redeem(&op, WEB, code).await, 400, "invalid_grant");
    }
    let anew = signed_in(&op).await;
    assert_alive(&op, WEB, &anew).await;
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
    raise_restore_epoch(&op).await;
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
