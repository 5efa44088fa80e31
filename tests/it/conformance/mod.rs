//! The modules of the OpenID Foundation's basic and form_post plans, and of the dynamic plan as far as it
//! is built, by their own names (`conformance` sections 2 to 4 and 6). [`Suite`] does what the suite does
//! around each of them: every answer is checked by section 2, whatever the module is about, and
//! each module runs in both response modes. The implicit and hybrid plans stand in `front_channel`. The logout plan stands in `logout/conformance.rs`, the
//! config plan in `discovery`.

mod claims;
mod dynamic;
mod front_channel;
mod refused;
mod registration;
mod request_object;
mod sector;
mod server;
mod session;

use std::collections::BTreeMap;

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{Client, post_as, text, userinfo};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::token::{given, names, seconds, verified};

/// The response modes of the two plans.
const PLANS: [&str; 2] = ["query", "form_post"];
/// 128 characters, as the suite sends them where an error is expected.
const LONG_STATE: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV-._~";
const NONCE: &str = "nonce-of-the-suite";

/// The suite's clients are registered as its own documentation says; it sends no PKCE of itself.
const CLIENTS: &str = r#"
realm: main
clients:
  - client_id: first
    client_name: Conformance suite
    client_secret: "first+secret/0123456789%41"
    token_endpoint_auth_method: client_secret_basic
    redirect_uris: [ "https://suite.example/test/a/first/callback", "https://suite.example/cb?bar=foo" ]
    grant_types: [ authorization_code, refresh_token ]
    scope: "openid profile email address phone offline_access"
    require_pkce: false
    policy_uri: "https://suite.example/policy"
    tos_uri: "https://suite.example/tos"
  - client_id: second
    client_secret: "second-secret-0123456789"
    token_endpoint_auth_method: client_secret_post
    redirect_uris: [ "https://suite.example/test/a/second/callback" ]
    grant_types: [ authorization_code, refresh_token ]
    scope: "openid profile email address phone offline_access"
    require_pkce: false
"#;

const FIRST: Client = Client {
    id: "first",
    secret: Some("first+secret/0123456789%41"),
    in_body: false,
    redirect_uri: "https://suite.example/test/a/first/callback",
};
const SECOND: Client = Client {
    id: "second",
    secret: Some("second-secret-0123456789"),
    in_body: true,
    redirect_uri: "https://suite.example/test/a/second/callback",
};

/// What an ID token beside an access token holds at most.
const ID_TOKEN: [&str; 15] = [
    "acr",
    "amr",
    "at_hash",
    "aud",
    "auth_time",
    "azp",
    "exp",
    "iat",
    "iss",
    "jti",
    "nbf",
    "nonce",
    "sid",
    "sub",
    "txn",
];

/// The parameters that came back to the client.
type Callback = BTreeMap<String, String>;

/// One module's run.
struct Suite {
    op: Op,
    mode: &'static str,
}

impl Suite {
    async fn start() -> Self {
        let op = Op::start().await;
        op.apply(CLIENTS).await;
        Self { op, mode: "query" }
    }

    /// An authorization request; `extra` replaces, an empty value removes.
    fn request(&self, client: Client, extra: &[(&str, &str)]) -> String {
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", client.id),
            ("redirect_uri", client.redirect_uri),
            ("scope", "openid"),
            ("state", "0123456789"),
            ("nonce", NONCE),
        ];
        if self.mode != "query" {
            pairs.push(("response_mode", self.mode));
        }
        for (name, value) in extra {
            pairs.retain(|(known, _)| known != name);
            if !value.is_empty() {
                pairs.push((name, value));
            }
        }
        format!("/authorize?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
    }

    /// What an answer brings to the client, by the one way that the plan asks for.
    fn callback(&self, client: Client, answer: &Answer) -> Callback {
        let fields: Vec<(String, String)> = if self.mode == "query" {
            assert_eq!(answer.status, 303, "{}", answer.body);
            let (to, query) = answer.location().split_once('?').expect("a query");
            assert_eq!(to, client.redirect_uri);
            assert!(!query.contains('#'), "{query}");
            form_urlencoded::parse(query.as_bytes()).into_owned().collect()
        } else {
            assert_eq!(answer.status, 200, "{}", answer.body);
            let form = answer.page().form_with("form-post-submit").unwrap_or_else(|| panic!("{}", answer.body));
            assert_eq!(form.action, client.redirect_uri, "nothing in query or fragment");
            form.filled("form-post-submit", &[])
        };
        let count = fields.len();
        let callback: Callback = fields.into_iter().collect();
        assert_eq!(callback.len(), count, "each once: {callback:?}");
        assert_eq!(callback["iss"], self.op.public_url);
        callback
    }

    /// A successful answer: checked, and its code.
    fn success(&self, client: Client, answer: &Answer) -> Callback {
        let callback = self.callback(client, answer);
        assert_eq!(callback.keys().collect::<Vec<_>>(), ["code", "iss", "state"], "{callback:?}");
        assert_eq!(callback["state"], "0123456789");
        assert!(callback["code"].len() >= 22, "128 bits: {}", callback["code"]);
        callback
    }

    /// A refusal by the client's own channel, with [`LONG_STATE`].
    fn refusal(&self, client: Client, answer: &Answer, errors: &[&str]) -> Callback {
        let callback = self.callback(client, answer);
        assert_eq!(callback.keys().collect::<Vec<_>>(), ["error", "error_description", "iss", "state"]);
        assert!(errors.contains(&callback["error"].as_str()), "{callback:?}");
        assert_eq!(callback["state"], LONG_STATE);
        callback
    }

    /// Alice goes through whatever is shown.
    async fn visit(&self, browser: &mut Browser<'_>, url: &str) -> Answer {
        let answer = browser.get(url).await;
        self.go_on(browser, answer).await
    }

    async fn go_on(&self, browser: &mut Browser<'_>, mut answer: Answer) -> Answer {
        if answer.page().has_id("login-submit") {
            answer = browser.sign_in("alice", PASSWORD).await;
        }
        if answer.page().has_id("consent-allow") { browser.submit("consent-allow", &[]).await } else { answer }
    }

    /// Redeems a code as the suite does: the response is checked, its ID token verified.
    async fn redeem(&self, client: Client, code: &str) -> (Value, Value) {
        self.redeem_with(client, code, &[]).await
    }

    async fn redeem_with(&self, client: Client, code: &str, more: &[(&str, &str)]) -> (Value, Value) {
        let answer = self.exchange(client, code, more).await;
        let tokens = given(&answer);
        let claims = self.id_token(client, &tokens).await;
        (tokens, claims)
    }

    async fn exchange(&self, client: Client, code: &str, more: &[(&str, &str)]) -> Answer {
        let fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", client.redirect_uri)];
        post_as(&self.op, client, "/token", &[&fields[..], more].concat()).await
    }

    /// The token response and ID token of section 2.
    async fn id_token(&self, client: Client, tokens: &Value) -> Value {
        assert_eq!(text(tokens, "token_type"), "Bearer");
        assert!((1..=31_536_000).contains(&tokens["expires_in"].as_i64().expect("a number")), "{tokens}");
        let (header, claims) = verified(&self.op, text(tokens, "id_token")).await;
        for name in names(&claims) {
            assert!(ID_TOKEN.contains(&name), "scope claims belong in userinfo: {name}");
        }
        let now = seconds(&self.op);
        let at = |name: &str| claims[name].as_i64().unwrap_or_else(|| panic!("{name} in {claims}"));
        assert_eq!((text(&claims, "iss"), text(&claims, "aud")), (&*self.op.public_url, client.id));
        assert!(at("exp") > now && at("exp") < now + 50 * 31_536_000, "{claims}");
        assert!((now - at("iat")).abs() <= 300 && at("auth_time") <= now, "{claims}");
        assert!(!text(&claims, "acr").is_empty() && !text(&claims, "sub").is_empty());
        assert_eq!(text(&header, "alg"), "RS256");
        let sum = digest::digest(&digest::SHA256, text(tokens, "access_token").as_bytes());
        assert_eq!(text(&claims, "at_hash"), URL_SAFE_NO_PAD.encode(&sum.as_ref()[..16]));
        claims
    }

    /// A whole sign-in: tokens and the ID token's claims.
    async fn tokens(&self, browser: &mut Browser<'_>, extra: &[(&str, &str)]) -> (Value, Value) {
        let answer = self.visit(browser, &self.request(FIRST, extra)).await;
        let callback = self.success(FIRST, &answer);
        let (tokens, claims) = self.redeem(FIRST, &callback["code"]).await;
        if !extra.iter().any(|(name, _)| *name == "nonce") {
            assert_eq!(text(&claims, "nonce"), NONCE);
        }
        (tokens, claims)
    }

    /// Userinfo of section 2.
    async fn userinfo(&self, tokens: &Value, claims: &Value) -> Value {
        let answer = userinfo(&self.op, text(tokens, "access_token")).await;
        self.checked_userinfo(&answer, claims)
    }

    fn checked_userinfo(&self, answer: &Answer, claims: &Value) -> Value {
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("application/json")));
        let info = answer.json();
        assert_eq!(info["sub"], claims["sub"]);
        for (name, value) in info.as_object().expect("an object") {
            match name.as_str() {
                "email_verified" | "phone_number_verified" => assert!(value.is_boolean(), "{name}"),
                "updated_at" => assert!(value.is_number(), "{name}"),
                "address" => {
                    let parts = value.as_object().expect("an object");
                    assert!(parts.values().all(|part| part.as_str().is_some_and(|part| !part.is_empty())), "{value}");
                }
                _ => {
                    let value = value.as_str().unwrap_or_else(|| panic!("{name} is a text"));
                    assert!(!value.trim().is_empty() && value != "null", "{name}");
                }
            }
        }
        info
    }
}

/// A page of ours instead of an answer to anybody.
fn stays(answer: &Answer) {
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(answer.header("location").is_none() && answer.header("refresh").is_none());
    assert!(answer.page().form_with("form-post-submit").is_none(), "{}", answer.body);
}

fn auth_time(claims: &Value) -> i64 {
    claims["auth_time"].as_i64().unwrap_or_else(|| panic!("auth_time in {claims}"))
}
