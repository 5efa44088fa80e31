//! The modules of the dynamic and third-party-initiated-login plans that are about registration, each with a
//! client that registers as the suite's does (section 2): metadata of the suite's own making, an inline key
//! without a name, DELETE after the module.

use doorward::clock::Clock;
use doorward::domain::model::ids::ClientKey;
use doorward::store::repo::{self, logo::Logo};
use serde_json::{Value, json};

use super::dynamic::reaching;
use super::{Suite, stays};
use crate::kit::browser::Answer;
use crate::kit::flow::{Client, decode, text, userinfo};
use crate::kit::op::Op;
use crate::kit::signing::{RSA, claims, jwks, post_signed};
use crate::kit::tls_host::{Behaviour, PNG, TlsHost};
use crate::kit::token::{given, verified};
use crate::registration::{as_client, call, managed, register};

/// The realm as its operator sets it up for the suite: open, without PKCE, with errors by redirect.
const REALM: &str = r#"
realm: main
settings:
  clients: { require_pkce: false }
  client_registration: { enabled: true, require_initial_access_token: false, redirect_errors: true, rate_per_hour: 1000 }
"#;
const CALLBACK: &str = "https://suite.example/test/a/doorward/callback";

/// What the suite registers, with the members that the module is about.
fn request(members: &Value) -> Value {
    let key: Value = serde_json::from_str(&jwks(&[RSA.public(None)])).expect("a set");
    let mut document = json!({
        "client_name": "OIDF Conformance Suite", "redirect_uris": [CALLBACK], "contacts": ["certification@oidf.org"],
        "grant_types": ["authorization_code"], "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic", "jwks": key,
    });
    for (name, value) in members.as_object().expect("members") {
        if value.is_null() {
            document.as_object_mut().expect("an object").remove(name);
        } else {
            document[name] = value.clone();
        }
    }
    document
}

/// One module with its client.
struct Module {
    suite: Suite,
    answer: Value,
}

impl Module {
    async fn start(members: &Value) -> Self {
        Self::on(Suite { op: Op::start().await, mode: "query" }, members).await
    }

    async fn on(suite: Suite, members: &Value) -> Self {
        suite.op.apply(REALM).await;
        let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
        assert_eq!(document["registration_endpoint"], format!("{}/register", suite.op.public_url));
        let answer = register(&suite.op, &request(members)).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answer = answer.json();
        assert_eq!(answer.get("client_secret").is_some(), answer.get("client_secret_expires_at").is_some());
        assert!(answer.get("registration_access_token").is_some(), "{answer}");
        suite.op.poll().await;
        Self { suite, answer }
    }

    fn client(&self) -> Client {
        as_client(&self.answer)
    }

    /// The page that a fresh browser is shown.
    async fn page(&self) -> Answer {
        let answer = self.suite.op.browser().get(&self.suite.request(self.client(), &[])).await;
        assert!(answer.page().has_id("login-submit"), "the first page, not only consent: {}", answer.body);
        answer
    }

    async fn code(&self, extra: &[(&str, &str)]) -> String {
        let mut browser = self.suite.op.browser();
        let answer = self.suite.visit(&mut browser, &self.suite.request(self.client(), extra)).await;
        self.suite.success(self.client(), &answer)["code"].clone()
    }

    /// What the suite does after each module.
    async fn over(self) {
        let (path, token) = managed(&self.suite.op, &self.answer);
        let answer = call(&self.suite.op, "DELETE", path, Some(token), None).await;
        assert_eq!((answer.status.as_u16(), answer.body.as_str()), (204, ""));
    }
}

#[tokio::test]
async fn oidcc_server() {
    let module = Module::start(&json!({})).await;
    let (tokens, claims) = module.suite.redeem(module.client(), &module.code(&[]).await).await;
    module.suite.userinfo(&tokens, &claims).await;
    module.over().await;
}

#[tokio::test]
async fn oidcc_idtoken_rs256() {
    let module = Module::start(&json!({ "id_token_signed_response_alg": "RS256" })).await;
    assert_eq!(module.answer["id_token_signed_response_alg"], "RS256");
    let (tokens, _) = module.suite.redeem(module.client(), &module.code(&[]).await).await;
    assert_eq!(text(&decode(text(&tokens, "id_token")).0, "alg"), "RS256");
    module.over().await;
}

#[tokio::test]
async fn oidcc_userinfo_rs256() {
    let module = Module::start(&json!({ "userinfo_signed_response_alg": "RS256" })).await;
    assert_eq!(module.answer["userinfo_signed_response_alg"], "RS256");
    let code = module.code(&[("scope", "openid profile email")]).await;
    let (tokens, claims) = module.suite.redeem(module.client(), &code).await;
    let answer = userinfo(&module.suite.op, text(&tokens, "access_token")).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("application/jwt")));
    let (header, info) = verified(&module.suite.op, &answer.body).await;
    assert_eq!((&header["alg"], &info["sub"]), (&json!("RS256"), &claims["sub"]));
    assert_eq!((&info["iss"], &info["aud"]), (&json!(module.suite.op.public_url), &module.answer["client_id"]));
    assert!(info.get("nonce").is_none() && info["email"] == "alice@example.com", "{info}");
    module.over().await;
}

#[tokio::test]
async fn oidcc_redirect_uri_regfrag() {
    let op = Op::start().await;
    op.apply(REALM).await;
    let answer = register(&op, &request(&json!({ "redirect_uris": [format!("{CALLBACK}#foobar")] }))).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (400, Some("application/json")));
    assert_eq!(answer.json()["error"], "invalid_redirect_uri");
}

#[tokio::test]
async fn oidcc_registration_policy_uri() {
    let module = Module::start(&json!({ "policy_uri": "https://suite.example/policy" })).await;
    assert!(module.page().await.page().links().iter().any(|link| link == "https://suite.example/policy"));
    module.over().await;
}

#[tokio::test]
async fn oidcc_registration_tos_uri() {
    let module = Module::start(&json!({ "tos_uri": "https://suite.example/tos" })).await;
    assert!(module.page().await.page().links().iter().any(|link| link == "https://suite.example/tos"));
    module.over().await;
}

/// The suite's logo lies on the public internet, which no test reaches. That it is looked for before the
/// registration is answered shows in the failure that is kept; the picture itself is put in its place.
#[tokio::test]
async fn oidcc_registration_logo_uri() {
    const LOGO: &str = "https://suite.invalid/images/openid.png";
    let module = Module::start(&json!({ "logo_uri": LOGO })).await;
    assert_eq!(module.answer["logo_uri"], LOGO);
    let (op, key) = (&module.suite.op, text(&module.answer, "client_id").parse::<ClientKey>().expect("a key"));
    let realm = crate::kit::rows::db_realm(op).await;
    let tried = repo::logo::find(&op.app.store.read(), realm, key).await.expect("the store answers");
    assert!(tried.is_some_and(|kept| kept.uri == LOGO && kept.bytes.is_empty()), "it was asked for at once");
    let kept = Logo {
        uri: LOGO.to_owned(),
        media_type: "image/png".to_owned(),
        bytes: PNG.to_vec(),
        fetched_at: op.clock.now(),
    };
    let mut tx = op.app.store.begin().await.expect("a transaction");
    repo::logo::put(&mut tx, realm, key, &kept).await.expect("kept");
    tx.commit().await.expect("committed");
    let page = module.page().await;
    assert!(page.body.contains("class=\"client-logo\" src=\"/login/logo?client=cli_"), "{}", page.body);
    module.over().await;
}

/// The suite's keys lie on the public internet. Here they lie on this machine, where nothing that a stranger
/// registers is fetched, so the operator vouches for the client first.
#[tokio::test]
async fn oidcc_registration_jwks_uri() {
    let keys = jwks(&[RSA.public(None)]);
    let host = TlsHost::start(&[("/jwks", Behaviour::sends("application/json", keys.as_bytes()))]).await;
    let uri = host.url("localhost", "/jwks");
    let members = json!({ "jwks": null, "jwks_uri": uri, "token_endpoint_auth_method": "private_key_jwt" });
    let module = Module::on(reaching(&host.authority()).await, &members).await;
    assert_eq!(module.answer["jwks_uri"], uri);
    assert!(module.answer.get("client_secret").is_none() && module.answer.get("jwks").is_none(), "{}", module.answer);
    let (op, client) = (&module.suite.op, module.client());
    op.apply(&format!("realm: main\nclients:\n  - {{ client_id: {}, consent: ask }}\n", client.id)).await;
    op.poll().await;
    let code = module.code(&[]).await;
    let assertion = RSA.sign(&json!({ "alg": "RS256" }), &claims(op, client.id));
    let fields = [("grant_type", "authorization_code"), ("code", &code), ("redirect_uri", client.redirect_uri)];
    let tokens = given(&post_signed(op, "/token", &assertion, &fields).await);
    module.suite.id_token(client, &tokens).await;
}

#[tokio::test]
async fn oidcc_registration_sector_bad() {
    let op = Op::start().await;
    op.apply(REALM).await;
    let sector = json!({ "subject_type": "pairwise", "sector_identifier_uri": "https://suite.invalid/sector.json" });
    let answer = register(&op, &request(&sector)).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (400, Some("application/json")));
    assert_eq!(answer.json()["error"], "invalid_client_metadata");
}

#[tokio::test]
async fn oidcc_3rd_party_init_login() {
    let uri = "https://suite.example/test/a/doorward/initiate";
    let module = Module::start(&json!({ "initiate_login_uri": uri })).await;
    assert_eq!(module.answer["initiate_login_uri"], uri);
    let (path, token) = managed(&module.suite.op, &module.answer);
    let answer = call(&module.suite.op, "GET", path, Some(token), None).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("application/json")));
    assert_eq!(answer.json()["initiate_login_uri"], uri);
    module.over().await;
}

#[tokio::test]
async fn oidcc_3rd_party_init_login_nohttps() {
    let op = Op::start().await;
    op.apply(REALM).await;
    let answer = register(&op, &request(&json!({ "initiate_login_uri": "http://suite.example/initiate" }))).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (400, Some("application/json")));
    assert_eq!(answer.json()["error"], "invalid_client_metadata");
}

#[tokio::test]
async fn oidcc_ensure_registered_redirect_uri() {
    let module = Module::start(&json!({})).await;
    let url = module.suite.request(module.client(), &[("redirect_uri", "https://suite.example/other")]);
    stays(&module.suite.op.browser().get(&url).await);
    module.over().await;
}

#[tokio::test]
async fn oidcc_prompt_none_not_logged_in() {
    let module = Module::start(&json!({})).await;
    let url = module.suite.request(module.client(), &[("prompt", "none"), ("state", super::LONG_STATE)]);
    let answer = module.suite.op.browser().get(&url).await;
    module.suite.refusal(module.client(), &answer, &["login_required"]);
    module.over().await;
}
