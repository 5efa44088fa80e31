//! `user`, `client`, `session`, `key`: what an operator does over ssh, and how a running server follows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::flow::{self, API, Client, WEB};
use crate::kit::op::SECRET;
use crate::kit::process::{Doorward, Refused, pause};
use crate::kit::visitor::{Visitor, get, introspect, post_as, redeem, refresh};

fn json(server: &Doorward, arguments: &[&str]) -> Value {
    let text = server.command_ok(&[arguments, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Waits for what another process changed: the change feed brings it within a second.
async fn soon<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let until = Instant::now() + Duration::from_secs(3);
    while !is_so().await {
        assert!(Instant::now() < until, "{what}, even after three seconds");
        pause(Duration::from_millis(50)).await;
    }
}

async fn is_live(issuer: &str, token: &str) -> bool {
    introspect(issuer, WEB, token).await["active"] == true
}

#[tokio::test]
async fn an_account_is_made_listed_and_given_a_password_and_a_power() {
    let server = Doorward::running().await;
    let create = ["user", "create", "carol", "--email", "carol@example.com", "--email-verified", "--password-stdin"];
    let made = server.command_given(&create, "a password for carol\n");
    let said = Refused::read(&made);
    assert_eq!(said.status, Some(0), "{}", said.said);
    assert!(!said.said.contains("a password for carol"));
    let id = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    assert!(id.starts_with("usr_"), "stdout has the id for a script: {id}");

    // What cannot be taken is said in one sentence, and nothing is made.
    for (name, password, told) in [
        ("dave", "short\n", "password: a password has at least 12 characters"),
        ("CAROL", "a long enough password\n", "username: this name or address already means another user"),
    ] {
        let refused = Refused::read(&server.command_given(&["user", "create", name, "--password-stdin"], password));
        refused.says(1, &[told]);
        assert!(refused.said.trim_end().ends_with(told), "{}", refused.said);
        assert_eq!(server.command(&["user", "show", "dave"]).status.code(), Some(1));
    }

    let users = json(&server, &["user", "list"]);
    let carol = users.as_array().expect("a list").iter().find(|user| user["username"] == "carol").expect("carol");
    assert_eq!(
        (&carol["id"], &carol["email"], &carol["enabled"]),
        (&id.into(), &"carol@example.com".into(), &true.into())
    );
    for password in ["a password for carol", "another for carol"] {
        let mut visitor = Visitor::new(&server.issuer());
        visitor.open(&flow::authorize(WEB, "openid", &[])).await;
        let name = if password.starts_with("another") { "carol" } else { "carol@example.com" };
        let answer = visitor.submit("login-submit", &[("username", name), ("password", password)]).await;
        assert_eq!(answer.status, 303, "{password}: {}", answer.body);
        let set = server.command_given(&["user", "set-password", "carol"], "another for carol\n");
        assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    }
    server.command_ok(&["user", "make-admin", "carol"]);
    server.command_ok(&["user", "make-admin", "carol", "--power", "realm"]);
    assert_eq!(json(&server, &["user", "show", "carol"])["powers"], serde_json::json!(["instance", "realm"]));
    assert!(json(&server, &["user", "make-admin", "carol"])["done"].as_str().expect("text").contains("had already"));

    let taken = server.command(&["user", "create", "ALICE"]);
    Refused::read(&taken).says(1, &["already means another user"]);
    let short = server.command_given(&["user", "set-password", "carol"], "short\n");
    Refused::read(&short).says(1, &["password", "12"]);
    Refused::read(&server.command(&["user", "set-password", "carol"])).says(2, &["stdin holds no password"]);
    Refused::read(&server.command(&["user", "disable", "nobody"]))
        .says(1, &["nobody in the realm main is called nobody"]);
    Refused::read(&server.command(&["user", "list", "--realm", "nowhere"])).says(1, &["there is no realm nowhere"]);
}

#[tokio::test]
async fn an_operator_finds_who_a_pairwise_sub_is() {
    let server = Doorward::running().await;
    let issuer = server.issuer();
    server.apply("realm: main\nclients:\n  - { client_id: web, subject_type: pairwise }\n");
    let claims = async || {
        let code = Visitor::new(&issuer).code(WEB, "openid").await;
        flow::decode(flow::text(&redeem(&issuer, WEB, &code).await.json(), "id_token")).1
    };
    soon("the client's people have a sub of their own", async || flow::text(&claims().await, "sub").len() == 43).await;
    let sub = claims().await["sub"].clone();
    let users = json(&server, &["user", "list", "--client", "web"]);
    let found: Vec<_> = users.as_array().expect("a list").iter().filter(|user| user["sub_at_client"] == sub).collect();
    assert_eq!((found.len(), &found[0]["username"]), (1, &"alice".into()));
    assert_ne!(found[0]["sub"], sub);
    let told = server.command_ok(&["user", "list", "--client", "web"]);
    assert!(told.lines().any(|line| line.contains("alice") && line.contains(sub.as_str().expect("text"))), "{told}");
    Refused::read(&server.command(&["user", "list", "--client", "nobody"])).says(1, &["there is no client nobody"]);
}

#[tokio::test]
async fn disabling_and_a_new_password_end_what_a_running_server_gave() {
    let server = Doorward::running().await;
    let issuer = server.issuer();
    for (arguments, given) in
        [(&["user", "set-password", "alice"][..], "correct horse battery\n"), (&["user", "disable", "alice"][..], "")]
    {
        let mut visitor = Visitor::new(&issuer);
        let code = visitor.code(WEB, "openid offline_access").await;
        let tokens = redeem(&issuer, WEB, &code).await.json();
        let access = tokens["access_token"].as_str().expect("a token");
        assert!(is_live(&issuer, access).await);
        let done = server.command_given(arguments, given);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        // Grants are asked of the database: at once. What is remembered: when the feed brings it.
        let refused = refresh(&issuer, WEB, tokens["refresh_token"].as_str().expect("a token")).await;
        assert_eq!(refused.status, 400, "{arguments:?}: {}", refused.body);
        soon("the access token is live", async || !is_live(&issuer, access).await).await;
        let answer = visitor.open(&flow::authorize(WEB, "openid", &[("prompt", "none")])).await;
        assert_eq!(answer.location_param("error").as_deref(), Some("login_required"), "{arguments:?}");
    }
    let mut visitor = Visitor::new(&issuer);
    visitor.open(&flow::authorize(WEB, "openid", &[])).await;
    assert_eq!(visitor.sign_in().await.status, 422, "disabled");
    server.command_ok(&["user", "enable", "alice"]);
    assert_eq!(visitor.sign_in().await.status, 303, "enabled again");
}

#[tokio::test]
async fn a_rotated_secret_lives_beside_the_old_one_as_long_as_was_said() {
    let server = Doorward::running().await;
    let issuer = server.issuer();
    let works = async |secret: &'static str| {
        let client = Client { secret: Some(secret), ..API };
        post_as(&issuer, client, "/token", &[("grant_type", "client_credentials")]).await.status == 200
    };
    let old = API.secret.expect("a secret");
    let new = |arguments: &[&str]| -> &'static str { server.command_ok(arguments).trim().to_owned().leak() };
    let second = new(&["client", "rotate-secret", "api", "--keep", "1h"]);
    assert!(second.len() >= 43, "256 bits: {second}");
    soon("the new secret is unknown", async || works(second).await).await;
    assert!(works(old).await, "kept for an hour");
    let shown = json(&server, &["client", "show", "api"]);
    assert_eq!(shown["secrets"].as_array().expect("a list").len(), 2);
    assert!(!shown.to_string().contains(second), "shown once");

    let third = new(&["client", "rotate-secret", "api"]);
    soon("the new secret is unknown", async || works(third).await).await;
    soon("a void secret works", async || !works(second).await).await;
    assert!(!works(old).await);
    let listed = server.command_ok(&["client", "list"]);
    for client in ["web", "native", "api"] {
        assert!(listed.contains(client), "{listed}");
    }
    assert!(!listed.contains(SECRET));
    Refused::read(&server.command(&["client", "rotate-secret", "nobody"])).says(1, &["there is no client nobody"]);
    Refused::read(&server.command(&["client", "rotate-secret", "api", "--keep", "soon"])).says(2, &["--keep", "12h"]);
}

#[tokio::test]
async fn sessions_are_listed_and_ended_with_their_reason() {
    let server = Doorward::running().await;
    let issuer = server.issuer();
    let (mut one, mut two) = (Visitor::new(&issuer), Visitor::new(&issuer));
    one.code(WEB, "openid").await;
    two.code(WEB, "openid").await;
    let sessions = json(&server, &["session", "list", "--user", "alice"]);
    let sessions = sessions.as_array().expect("a list");
    assert_eq!(sessions.len(), 2);
    // Newest first.
    let second = sessions[0]["id"].as_str().expect("an id");
    assert!(second.starts_with("ses_") && sessions[0]["ended"].is_null());
    server.command_ok(&["session", "end", second]);
    Refused::read(&server.command(&["session", "end", second])).says(0, &["had ended before"]);
    let none = [("prompt", "none")];
    soon("the ended session lives", async || {
        let mut two = two.clone();
        two.open(&flow::authorize(WEB, "openid", &none)).await.location_param("error").as_deref()
            == Some("login_required")
    })
    .await;
    let answer = one.open(&flow::authorize(WEB, "openid", &none)).await;
    assert!(answer.location_param("code").is_some(), "the other one goes on");

    assert_eq!(json(&server, &["session", "end-all", "--user", "alice"])["ended"], 1);
    let sessions = json(&server, &["session", "list", "--user", "alice"]);
    for session in sessions.as_array().expect("a list") {
        assert_eq!(session["ended"], "ended_by_admin");
        assert!(session["ended_at"].is_string());
    }
    assert!(server.command_ok(&["session", "list", "--user", "alice"]).contains("ended_by_admin"));
    Refused::read(&server.command(&["session", "end", "nonsense"])).says(2, &["ses_"]);
    let nobody = "ses_00000000000000000000000000000000";
    Refused::read(&server.command(&["session", "end", nobody])).says(1, &["there is no session"]);
}

fn phases(keys: &Value) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for key in keys.as_array().expect("a list") {
        let text = |name: &str| key[name].as_str().expect("text").to_owned();
        *counts.entry((text("alg"), text("phase"))).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn keys_are_rotated_calmly_and_at_once() {
    let server = Doorward::running().await;
    let issuer = server.issuer();
    let before = json(&server, &["key", "list"]);
    let count = before.as_array().expect("a list").len();
    assert!(phases(&before).keys().all(|(_, phase)| phase == "active"), "{before}");
    let code = Visitor::new(&issuer).code(WEB, "openid").await;
    let token = redeem(&issuer, WEB, &code).await.json()["access_token"].as_str().expect("a token").to_owned();

    let calm = json(&server, &["key", "rotate", "--alg", "ES256"]);
    assert_eq!(calm.as_array().expect("a list").len(), count + 1);
    assert_eq!(phases(&calm)[&("ES256".to_owned(), "announced".to_owned())], 1);
    assert_eq!(phases(&calm)[&("ES256".to_owned(), "active".to_owned())], 1, "the old one signs until then");
    let published = async || {
        let keys = get(&format!("{issuer}/.well-known/jwks.json"), &[]).await.json();
        keys["keys"].as_array().expect("a list").len()
    };
    soon("the announced key is not published", async || published().await == count + 1).await;
    assert!(is_live(&issuer, &token).await);

    let at_once = json(&server, &["key", "rotate", "--now"]);
    assert!(!phases(&at_once).keys().any(|(_, phase)| phase == "retired"), "{at_once}");
    soon("old keys are published", async || published().await == count).await;
    soon("a token of a void key lives", async || !is_live(&issuer, &token).await).await;
    let code = Visitor::new(&issuer).code(WEB, "openid").await;
    let token = redeem(&issuer, WEB, &code).await.json()["access_token"].as_str().expect("a token").to_owned();
    assert!(is_live(&issuer, &token).await, "new keys sign at once");
    Refused::read(&server.command(&["key", "rotate", "--alg", "HS256"])).says(2, &["ES256"]);
}
