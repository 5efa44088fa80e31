//! client_secret_jwt: the secret signs, so it rests sealed beside its hash.

use std::time::Duration;

use doorward::domain::model::secret::Secret;
use doorward::domain::realm_file as file;
use doorward::service::admin;
use doorward::service::realm_file::{Input, LocalSecrets, Mode, Passphrase, Secrets, apply, export};

use super::{add_client, header};
use crate::kit::op::Op;
use crate::kit::signing::{claims, post_signed, sign_with_secret, token_by};
use crate::kit::token::{db_realm, given, refused};

const SECRET: &str = "a-secret-that-signs-0123456789abcdef";
const BY_SECRET: &str = "    token_endpoint_auth_method: client_secret_jwt";

async fn started() -> Op {
    let op = Op::start().await;
    add_client(&op, "signer", &format!("{BY_SECRET}\n    client_secret: {SECRET}")).await;
    op
}

fn by(op: &Op, secret: &str) -> String {
    sign_with_secret(secret.as_bytes(), &header("HS256"), &claims(op, "signer"))
}

async fn rotate(op: &Op, keep: Option<Duration>) -> Secret {
    let realm = db_realm(op).await;
    let client = admin::client::find(&op.app, &realm, "signer").await.expect("an answer").expect("the client");
    admin::client::rotate_secret(&op.app, &realm, &client, keep).await.expect("a secret")
}

#[tokio::test]
async fn the_secret_signs_and_is_never_sent_or_readable() {
    let op = started().await;
    given(&token_by(&op, &by(&op, SECRET)).await);
    for path in ["/introspect", "/revoke"] {
        assert_eq!(post_signed(&op, path, &by(&op, SECRET), &[("token", "x")]).await.status, 200, "{path}");
    }
    let once = by(&op, SECRET);
    given(&token_by(&op, &once).await);
    refused(&token_by(&op, &once).await, 401, "invalid_client");
    refused(&token_by(&op, &by(&op, "a-secret-that-signs-0123456789abcdeX")).await, 401, "invalid_client");
    let sent = [("grant_type", "client_credentials"), ("client_id", "signer"), ("client_secret", SECRET)];
    refused(&op.post("/token", &sent, &[]).await, 401, "invalid_client");
    assert!(!op.db.holds(SECRET).await, "it rests sealed");
    let op = op.restart().await;
    given(&token_by(&op, &by(&op, SECRET)).await);
}

#[tokio::test]
async fn both_secrets_sign_while_one_replaces_the_other() {
    let op = started().await;
    let second = rotate(&op, Some(Duration::from_secs(3_600))).await;
    op.poll().await;
    given(&token_by(&op, &by(&op, SECRET)).await);
    given(&token_by(&op, &by(&op, second.expose())).await);
    op.advance(Duration::from_secs(3_600)).await;
    refused(&token_by(&op, &by(&op, SECRET)).await, 401, "invalid_client");
    given(&token_by(&op, &by(&op, second.expose())).await);
}

#[tokio::test]
async fn a_method_that_is_changed_takes_the_sealed_secret_along() {
    let op = started().await;
    let sealed = "select count(*) from client_secret where sealed is not null";
    assert_eq!(op.db.number(sealed).await, 1, "only where it signs");
    add_client(&op, "signer", "    token_endpoint_auth_method: client_secret_post").await;
    assert_eq!(op.db.number(sealed).await, 0);
    let sent = [("grant_type", "client_credentials"), ("client_id", "signer"), ("client_secret", SECRET)];
    given(&op.post("/token", &sent, &[]).await);
    // Back again only its hash is there: nothing signs until the secret is given in full, or a new one is made.
    add_client(&op, "signer", BY_SECRET).await;
    refused(&token_by(&op, &by(&op, SECRET)).await, 401, "invalid_client");
    add_client(&op, "signer", &format!("{BY_SECRET}\n    client_secret: {SECRET}")).await;
    given(&token_by(&op, &by(&op, SECRET)).await);
    let made = rotate(&op, None).await;
    op.poll().await;
    given(&token_by(&op, &by(&op, made.expose())).await);
}

#[tokio::test]
async fn an_export_carries_it_to_another_realm() {
    const PASS: &str = "a passphrase of some length";
    let op = started().await;
    let passphrase = || Passphrase::new(Secret::from(PASS)).expect("a passphrase");
    let main = db_realm(&op).await;
    let text = export(&op.app, &main, Secrets::Encrypted(passphrase())).await.expect("exported");
    assert!(!text.contains(SECRET) && text.contains("client_secret_jwt"), "{text}");
    let resolved = async |text: &str| {
        let mut secrets = LocalSecrets::new(&op.app, [], Some(passphrase())).await.expect("read");
        let mut realms = file::parse("t.yaml", text).expect("a realm file");
        let faults: Vec<_> = realms.iter_mut().flat_map(|realm| file::resolve(realm, &mut secrets)).collect();
        assert!(faults.is_empty(), "{faults:?}");
        Input { realms, prune: false, mode: Mode::Write }
    };
    assert!(apply(&op.app, &resolved(&text).await).await.expect("applied").is_empty(), "it changes nothing");
    rotate(&op, None).await;
    apply(&op.app, &resolved(&text).await).await.expect("applied");
    op.poll().await;
    given(&token_by(&op, &by(&op, SECRET)).await);
}

#[tokio::test]
async fn a_client_with_a_key_of_its_own_gets_no_secret() {
    let op = super::started().await;
    let realm = db_realm(&op).await;
    let client = admin::client::find(&op.app, &realm, "signer").await.expect("an answer").expect("the client");
    let told = admin::client::rotate_secret(&op.app, &realm, &client, None).await.expect_err("no secret");
    assert!(told.to_string().contains("private_key_jwt"), "{told}");
}
