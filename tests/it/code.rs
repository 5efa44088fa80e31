//! Authorization codes: sixty seconds, one use, one party (RFC 6749 section 4.1.2, RFC 7636 section 4.6,
//! RFC 9700 section 4.5; behaviour cases B-14 and B-16; `security-design` rules 12 and 13).

use std::sync::Arc;
use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::session::EndReason;

use crate::kit::browser::Answer;
use crate::kit::flow::{
    ASKER, CHALLENGE, Client, NATIVE, VERIFIER, WEB, authorize, code, code_answer, introspect, post_as, redeem, text,
};
use crate::kit::op::Op;
use crate::kit::token::{
    assert_alive, assert_dead, db_audit, db_delete_client, db_delete_user, db_disable, db_grant, db_set_password,
    given, redeem_at_once, refused, works,
};

/// A redemption with these fields changed; an empty value removes.
async fn redeem_with(op: &Op, client: Client, code: &str, changes: &[(&str, &str)]) -> Answer {
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", client.redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        fields.push((name, value));
    }
    post_as(op, client, "/token", &fields).await
}

#[tokio::test]
async fn the_answer_says_what_was_given_and_for_how_long() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), WEB, "openid profile unknown").await;
    let answer = redeem(&op, WEB, &code).await;
    let tokens = given(&answer);
    assert_eq!(answer.header("pragma"), Some("no-cache"));
    assert_eq!((text(&tokens, "token_type"), &tokens["expires_in"]), ("Bearer", &300.into()));
    assert_eq!(text(&tokens, "scope"), "openid profile", "the unknown scope is left out and the answer says so");
    assert_alive(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn a_second_use_is_refused_and_ends_what_the_first_gave() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), WEB, "openid profile").await;
    let tokens = given(&redeem(&op, WEB, &code).await);
    let refreshed = assert_alive(&op, WEB, &tokens).await;
    for _ in 0..2 {
        refused(&redeem(&op, WEB, &code).await, 400, "invalid_grant");
    }
    assert_dead(&op, WEB, &tokens).await;
    assert_dead(&op, WEB, &refreshed).await;
    let grant = db_grant(&op, text(&tokens, "refresh_token")).await;
    assert_eq!(grant.ended.unwrap().reason, EndReason::CodeReplayed);
    let audit = db_audit(&op, AuditKind::CodeReplayed).await;
    assert_eq!(audit.len(), 1, "the family ends once");
    assert_eq!((audit[0].grant, audit[0].user), (Some(grant.id), Some(grant.user)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_twenty_uses_at_once_one_succeeds_and_its_tokens_are_dead() {
    let op = Arc::new(Op::start().await);
    let code = code(&mut op.browser(), WEB, "openid profile").await;
    let answers = redeem_at_once(&op, WEB, &code, 20).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        refused(answer, 400, "invalid_grant");
    }
    assert_dead(&op, WEB, &won[0].json()).await;
}

#[tokio::test]
async fn a_code_of_one_node_is_spent_on_another_and_a_replay_is_known_on_both() {
    let op = Op::start().await;
    let other = Op::builder().beside(&op).start().await;
    let code = code(&mut op.browser(), WEB, "openid profile").await;
    let tokens = given(&redeem(&other, WEB, &code).await);
    assert!(works(&op, WEB, &tokens).await && works(&other, WEB, &tokens).await);
    refused(&redeem(&op, WEB, &code).await, 400, "invalid_grant");
    assert_dead(&op, WEB, &tokens).await;
    other.poll().await;
    assert_dead(&other, WEB, &tokens).await;
}

#[tokio::test]
async fn who_could_not_have_used_a_code_burns_nothing_before_and_ends_nothing_after() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), WEB, "openid profile").await;
    let wrong: [(Client, &[(&str, &str)]); 7] = [
        (WEB, &[("code_verifier", CHALLENGE)]),
        (WEB, &[("code_verifier", "")]),
        (WEB, &[("redirect_uri", "https://app.example/cb?bar=foo")]),
        (WEB, &[("redirect_uri", "https://app.example/CB")]),
        (WEB, &[("redirect_uri", "")]),
        (ASKER, &[("redirect_uri", WEB.redirect_uri)]),
        (NATIVE, &[]),
    ];
    for (client, changes) in wrong {
        refused(&redeem_with(&op, client, &code, changes).await, 400, "invalid_grant");
    }
    let tokens = given(&redeem(&op, WEB, &code).await);
    for (client, changes) in wrong {
        refused(&redeem_with(&op, client, &code, changes).await, 400, "invalid_grant");
    }
    assert_alive(&op, WEB, &tokens).await;
    let audit = db_audit(&op, AuditKind::CodeMisused).await;
    assert_eq!(audit.len(), 2 * wrong.len(), "each is written down");
    assert!(db_audit(&op, AuditKind::CodeReplayed).await.is_empty());
}

#[tokio::test]
async fn a_client_that_did_not_prove_itself_burns_nothing() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), WEB, "openid").await;
    let thief = Client { secret: Some("guess-0123456789"), ..WEB };
    refused(&redeem(&op, thief, &code).await, 401, "invalid_client");
    given(&redeem(&op, WEB, &code).await);
}

#[tokio::test]
async fn stripping_either_half_of_the_proof_is_refused() {
    let op = Op::start().await;
    op.apply("realm: main\nclients:\n  - { client_id: web, require_pkce: false }\n").await;
    let mut browser = op.browser();
    let without = [("code_challenge", ""), ("code_challenge_method", "")];
    let answer = code_answer(&mut browser, WEB, "openid", &without).await;
    let bare = answer.location_param("code").expect("a code");
    for verifier in ["any", VERIFIER] {
        refused(&redeem_with(&op, WEB, &bare, &[("code_verifier", verifier)]).await, 400, "invalid_grant");
    }
    given(&redeem_with(&op, WEB, &bare, &[("code_verifier", "")]).await);
    let bound = code(&mut browser, WEB, "openid").await;
    let fields = [("grant_type", "authorization_code"), ("code", &*bound), ("redirect_uri", WEB.redirect_uri)];
    refused(&post_as(&op, WEB, "/token", &fields).await, 400, "invalid_grant");
    refused(&redeem_with(&op, WEB, &bound, &[("code_verifier", "")]).await, 400, "invalid_grant");
    given(&redeem(&op, WEB, &bound).await);
}

#[tokio::test]
async fn a_public_client_redeems_with_its_port_of_the_day_and_its_proof() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), NATIVE, "openid profile").await;
    let other_port = [("redirect_uri", "http://localhost:1024/callback")];
    refused(&redeem_with(&op, NATIVE, &code, &other_port).await, 400, "invalid_grant");
    let tokens = given(&redeem(&op, NATIVE, &code).await);
    assert_alive(&op, NATIVE, &tokens).await;
    refused(&redeem(&op, NATIVE, &code).await, 400, "invalid_grant");
    assert_dead(&op, NATIVE, &tokens).await;
}

#[tokio::test]
async fn a_code_lives_sixty_seconds() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let (young, old) = (code(&mut browser, WEB, "openid").await, code(&mut browser, WEB, "openid").await);
    op.advance(Duration::from_secs(59)).await;
    given(&redeem(&op, WEB, &young).await);
    op.advance(Duration::from_secs(2)).await;
    refused(&redeem(&op, WEB, &old).await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_late_replay_ends_what_the_code_gave_too() {
    for secs in [30, 61, 3_600] {
        let op = Op::start().await;
        let code = code(&mut op.browser(), WEB, "openid offline_access").await;
        let mut tokens = given(&redeem(&op, WEB, &code).await);
        op.advance(Duration::from_secs(secs)).await;
        tokens = given(&crate::kit::flow::refresh(&op, WEB, text(&tokens, "refresh_token")).await);
        refused(&redeem(&op, WEB, &code).await, 400, "invalid_grant");
        assert_dead(&op, WEB, &tokens).await;
    }
}

#[tokio::test]
async fn a_replay_after_the_client_was_deleted_and_made_anew_gives_nothing() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let (spent, unspent) = (code(&mut browser, WEB, "openid").await, code(&mut browser, WEB, "openid").await);
    let tokens = given(&redeem(&op, WEB, &spent).await);
    db_delete_client(&op, "web").await;
    refused(&redeem(&op, WEB, &spent).await, 401, "invalid_client");
    op.apply(crate::kit::op::REALM).await;
    for code in [&spent, &unspent] {
        refused(&redeem(&op, WEB, code).await, 400, "invalid_grant");
    }
    assert_dead(&op, WEB, &tokens).await;
    let grant = db_grant(&op, text(&tokens, "refresh_token")).await;
    assert_eq!(grant.ended.unwrap().reason, EndReason::ClientRemoved, "ended, not deleted");
}

/// The same bytes otherwise written, other bytes, and no code at all.
fn respelled(code: &str) -> Vec<String> {
    let (body, last) = code.split_at(code.len() - 1);
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let next = |sign: &str| alphabet.chars().cycle().skip(alphabet.find(sign).unwrap() + 1).take(3).collect::<String>();
    let mut all: Vec<String> = next(last).chars().map(|sign| format!("{body}{sign}")).collect();
    all.extend([
        format!("{code}="),
        format!("{code}=="),
        format!("{code}A"),
        format!("{code} "),
        format!(" {code}"),
        format!("{code}\n"),
        format!("{code}\0"),
        format!("{code}.{code}"),
        body.to_owned(),
        code[1..].to_owned(),
        code.to_lowercase(),
        "x".to_owned(),
        "A".repeat(32),
        "A".repeat(5_000),
    ]);
    if code.contains(['-', '_']) {
        all.push(code.replace('-', "+").replace('_', "/"));
    }
    for at in [0, 1, 4, 8, 20, code.len() / 2] {
        let sign = if &code[at..=at] == "A" { "B" } else { "A" };
        all.push(format!("{}{sign}{}", &code[..at], &code[at + 1..]));
    }
    all
}

#[tokio::test]
async fn a_code_has_one_spelling_and_tells_nothing() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let (one, two) = (code(&mut browser, WEB, "openid profile").await, code(&mut browser, WEB, "openid profile").await);
    assert!(one.len() >= 43 && one.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)), "{one}");
    let alike = one.bytes().zip(two.bytes()).filter(|(a, b)| a == b).count();
    assert!(alike < one.len() / 4, "two codes of the same request share {alike} signs of {}", one.len());
    for wrong in respelled(&one) {
        refused(&redeem(&op, WEB, &wrong).await, 400, "invalid_grant");
    }
    let tokens = given(&redeem(&op, WEB, &one).await);
    for wrong in respelled(&one) {
        refused(&redeem(&op, WEB, &wrong).await, 400, "invalid_grant");
    }
    assert_alive(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn a_code_too_large_for_an_address_becomes_a_handle_with_the_same_rules() {
    let op = Op::start().await;
    let nonce = "n".repeat(500);
    let mut browser = op.browser();
    let answer = code_answer(&mut browser, WEB, "openid", &[("nonce", &nonce)]).await;
    let handle = answer.location_param("code").unwrap();
    assert!(handle.len() < 100, "{handle}");
    for wrong in respelled(&handle) {
        refused(&redeem(&op, WEB, &wrong).await, 400, "invalid_grant");
    }
    let tokens = given(&redeem(&op, WEB, &handle).await);
    assert_eq!(text(&crate::kit::flow::decode(text(&tokens, "id_token")).1, "nonce"), nonce);
    refused(&redeem(&op, WEB, &handle).await, 400, "invalid_grant");
    assert_dead(&op, WEB, &tokens).await;
    let answer = code_answer(&mut browser, WEB, "openid", &[("nonce", &nonce)]).await;
    op.advance(Duration::from_secs(61)).await;
    let late = answer.location_param("code").unwrap();
    refused(&redeem(&op, WEB, &late).await, 400, "invalid_grant");
}

#[tokio::test]
async fn what_ends_between_code_and_token_gives_no_token() {
    for ending in ["logout", "password", "disable", "delete"] {
        let op = Op::start().await;
        let mut browser = op.browser();
        let code = code(&mut browser, WEB, "openid offline_access").await;
        match ending {
            "logout" => {
                browser.get("/logout").await;
                browser.submit("logout-yes", &[]).await;
            }
            "password" => db_set_password(&op, "another long password").await,
            "disable" => db_disable(&op).await,
            _ => db_delete_user(&op).await,
        }
        refused(&redeem(&op, WEB, &code).await, 400, "invalid_grant");
    }
}

#[tokio::test]
async fn an_outstanding_code_survives_a_restart_and_is_still_good_once() {
    let op = Op::start().await;
    let (first, second) = {
        let mut browser = op.browser();
        (code(&mut browser, WEB, "openid").await, code(&mut browser, WEB, "openid").await)
    };
    given(&redeem(&op, WEB, &first).await);
    let op = op.restart().await;
    refused(&redeem(&op, WEB, &first).await, 400, "invalid_grant");
    let tokens = given(&redeem(&op, WEB, &second).await);
    let op = op.restart().await;
    assert!(works(&op, WEB, &tokens).await);
    refused(&redeem(&op, WEB, &second).await, 400, "invalid_grant");
    assert_dead(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn a_code_request_must_be_well_formed() {
    let op = Op::start().await;
    refused(
        &post_as(&op, WEB, "/token", &[("grant_type", "authorization_code"), ("code", "")]).await,
        400,
        "invalid_request",
    );
    let code = code(&mut op.browser(), WEB, "openid").await;
    let fields = [("grant_type", "authorization_code"), ("code", &*code), ("code", &*code)];
    refused(&post_as(&op, WEB, "/token", &fields).await, 400, "invalid_request");
    given(&redeem(&op, WEB, &code).await);
    let answer = op.get("/token?grant_type=authorization_code", &[]).await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("POST")));
}

#[tokio::test]
async fn each_redeemed_code_is_a_grant_of_its_own() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let wide = code(&mut browser, WEB, "openid profile email").await;
    let narrow = code(&mut browser, WEB, "openid").await;
    let (first, second) = (given(&redeem(&op, WEB, &wide).await), given(&redeem(&op, WEB, &narrow).await));
    // The wider one's replay leaves the other as it was.
    refused(&redeem(&op, WEB, &wide).await, 400, "invalid_grant");
    assert_dead(&op, WEB, &first).await;
    let next = assert_alive(&op, WEB, &second).await;
    assert_eq!(text(&next, "scope"), "openid");
    let seen = introspect(&op, WEB, text(&next, "access_token")).await;
    assert_eq!(text(&seen, "scope"), "openid");
    // And the browser is still signed in.
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert!(silent.location_param("code").is_some(), "{}", silent.location());
}
