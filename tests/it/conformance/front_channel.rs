//! The modules of the implicit and hybrid plans, by query-free channel: as fragment and as form_post
//! (`conformance` sections 2, 3 and 6). Each runs for every response type that its plan names; where it does not
//! differ from the basic plan by more than the channel it is [`Plan::sign_in`] that looks at all of section 2.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::claims::PROFILE;
use super::{Callback, FIRST, ID_TOKEN, LONG_STATE, NONCE, Suite, auth_time, stays};
use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{text, userinfo};
use crate::kit::token::{names, seconds, verified};

const I1: &str = "id_token";
const I2: &str = "id_token token";
const H1: &str = "code id_token";
const H2: &str = "code token";
const H3: &str = "code id_token token";
const ALL: [&str; 5] = [I1, I2, H1, H2, H3];

const CHANNELS: [&str; 2] = ["fragment", "form_post"];

/// The suite's client for these plans, in a realm that gives access tokens through the browser.
const REGISTERED: &str = r#"
realm: main
settings: { clients: { front_channel_tokens: true } }
clients:
  - client_id: first
    grant_types: [ authorization_code, implicit, refresh_token ]
    response_types: [ code, id_token, id_token token, code id_token, code token, code id_token token ]
"#;

/// Whether it is a claim of the protocol: all others are claims of scopes.
fn is_of_protocol(name: &str) -> bool {
    ID_TOKEN.contains(&name) || ["c_hash", "s_hash"].contains(&name)
}

struct Plan {
    suite: Suite,
    kind: &'static str,
}

/// Runs a module for each type and channel.
async fn each(kinds: &[&'static str], module: impl AsyncFn(&Plan)) {
    let mut plan = Plan { suite: Suite::start().await, kind: "" };
    plan.suite.op.apply(REGISTERED).await;
    for channel in CHANNELS {
        plan.suite.mode = channel;
        for kind in kinds {
            plan.kind = kind;
            module(&plan).await;
        }
    }
}

impl Plan {
    fn has(&self, part: &str) -> bool {
        self.kind.split(' ').any(|own| own == part)
    }

    /// As the suite sends it: the mode only where it is not the default.
    fn request(&self, extra: &[(&str, &str)]) -> String {
        let mode = if self.suite.mode == "fragment" { "" } else { self.suite.mode };
        self.suite.request(FIRST, &[&[("response_type", self.kind), ("response_mode", mode)], extra].concat())
    }

    fn callback(&self, answer: &Answer) -> Callback {
        if self.suite.mode == "form_post" {
            return self.suite.callback(FIRST, answer);
        }
        assert_eq!(answer.status, 303, "{}", answer.body);
        assert!(answer.location().starts_with(&format!("{}#", FIRST.redirect_uri)), "{}", answer.location());
        let callback = answer.fragment();
        assert_eq!(callback["iss"], self.suite.op.public_url);
        callback
    }

    fn refusal(&self, answer: &Answer, errors: &[&str]) {
        let callback = self.callback(answer);
        assert_eq!(callback.keys().collect::<Vec<_>>(), ["error", "error_description", "iss", "state"]);
        assert!(errors.contains(&callback["error"].as_str()), "{callback:?}");
        assert_eq!(callback["state"], LONG_STATE);
    }

    /// A successful answer: its parts are those of the type, each checked by section 2, both channels compared.
    async fn success(&self, answer: &Answer) -> Given {
        let callback = self.callback(answer);
        let mut expected = vec!["iss", "state"];
        for (part, fields) in [
            ("code", &["code"][..]),
            ("id_token", &["id_token"]),
            ("token", &["access_token", "expires_in", "token_type"]),
        ] {
            if self.has(part) {
                expected.extend(fields);
            }
        }
        expected.sort_unstable();
        assert_eq!(callback.keys().map(String::as_str).collect::<Vec<_>>(), expected);
        assert_eq!(callback["state"], "0123456789");
        let mut claims = match callback.get("id_token") {
            Some(id_token) => Some(self.front_id_token(id_token, &callback).await),
            None => None,
        };
        let mut access = callback.get("access_token").cloned();
        if let Some(code) = callback.get("code") {
            assert!(code.len() >= 22, "128 bits: {code}");
            let (tokens, back) = self.suite.redeem(FIRST, code).await;
            if let Some(front) = &claims {
                assert_eq!((&front["sub"], &front["iss"]), (&back["sub"], &back["iss"]));
            }
            claims = claims.or(Some(back));
            access = access.or_else(|| Some(text(&tokens, "access_token").to_owned()));
        }
        if let Some(expires_in) = callback.get("expires_in") {
            assert!((1..=31_536_000).contains(&expires_in.parse::<u64>().expect("a number")));
            assert_eq!(callback["token_type"], "Bearer");
        }
        Given { callback, access, claims: claims.expect("an ID token by some way") }
    }

    async fn front_id_token(&self, id_token: &str, callback: &BTreeMap<String, String>) -> Value {
        let op = &self.suite.op;
        let (header, claims) = verified(op, id_token).await;
        let now = seconds(op);
        let at = |name: &str| claims[name].as_i64().unwrap_or_else(|| panic!("{name} in {claims}"));
        assert_eq!(text(&header, "alg"), "RS256");
        assert_eq!((text(&claims, "iss"), text(&claims, "aud")), (&*op.public_url, FIRST.id));
        assert!(at("exp") > now && (now - at("iat")).abs() <= 300 && at("auth_time") <= now, "{claims}");
        assert_eq!(text(&claims, "nonce"), NONCE);
        for (name, beside) in [("c_hash", "code"), ("at_hash", "access_token")] {
            let half = callback
                .get(beside)
                .map(|text| URL_SAFE_NO_PAD.encode(&digest::digest(&digest::SHA256, text.as_bytes()).as_ref()[..16]));
            assert_eq!(claims[name].as_str(), half.as_deref(), "{} {name}", self.kind);
        }
        if self.kind != I1 {
            let strange: Vec<_> = names(&claims).into_iter().filter(|name| !is_of_protocol(name)).collect();
            assert!(strange.is_empty(), "scope claims belong in userinfo: {strange:?}");
        }
        claims
    }

    async fn sign_in(&self, browser: &mut Browser<'_>, extra: &[(&str, &str)]) -> Given {
        let answer = self.suite.visit(browser, &self.request(extra)).await;
        self.success(&answer).await
    }
}

/// What an answer gave, over both channels.
struct Given {
    callback: Callback,
    access: Option<String>,
    claims: Value,
}

#[tokio::test]
async fn oidcc_server() {
    // `front_id_token` finds the `kid` in the key set and verifies RS256, the default.
    each(&ALL, async |plan| {
        plan.sign_in(&mut plan.suite.op.browser(), &[]).await;
    })
    .await;
}

#[tokio::test]
async fn oidcc_response_type_missing() {
    each(&[I2, H1], async |plan| {
        // In the query, whatever the client's usual types are; nothing else says where it belongs.
        let answer = plan.suite.op.browser().get(&plan.request(&[("response_type", ""), ("state", LONG_STATE)])).await;
        if plan.suite.mode == "form_post" {
            plan.refusal(&answer, &["invalid_request"]);
        } else {
            assert!(!answer.location().contains('#'), "{}", answer.location());
            assert_eq!(answer.location_param("error").as_deref(), Some("invalid_request"));
            assert_eq!(answer.location_param("state").as_deref(), Some(LONG_STATE));
        }
    })
    .await;
}

#[tokio::test]
async fn oidcc_ensure_request_without_nonce_fails() {
    each(&[I1, I2, H1, H3], async |plan| {
        let url = plan.request(&[("nonce", ""), ("state", LONG_STATE)]);
        plan.refusal(&plan.suite.op.browser().get(&url).await, &["invalid_request"]);
    })
    .await;
}

#[tokio::test]
async fn oidcc_ensure_request_without_nonce_succeeds_for_code_flow() {
    each(&[H2], async |plan| {
        let given = plan.sign_in(&mut plan.suite.op.browser(), &[("nonce", "")]).await;
        assert!(given.claims.get("nonce").is_none(), "{}", given.claims);
    })
    .await;
}

#[tokio::test]
async fn oidcc_scope_all() {
    let scopes = "openid profile email address phone";
    each(&ALL, async |plan| {
        let given = plan.sign_in(&mut plan.suite.op.browser(), &[("scope", scopes)]).await;
        let found = match &given.access {
            Some(token) => {
                let info = userinfo(&plan.suite.op, token).await;
                plan.suite.checked_userinfo(&info, &given.claims)
            }
            // There is nothing else to ask: they are in the ID token itself.
            None => given.claims.clone(),
        };
        let others = ["email", "email_verified", "address", "phone_number", "phone_number_verified"];
        for claim in PROFILE.into_iter().chain(others) {
            assert!(found.get(claim).is_some(), "{}: {claim} in {found}", plan.kind);
        }
        assert_eq!(given.callback.contains_key("access_token"), plan.has("token"));
    })
    .await;
}

#[tokio::test]
async fn oidcc_scope_email() {
    each(&[I1], async |plan| {
        let given = plan.sign_in(&mut plan.suite.op.browser(), &[("scope", "openid email")]).await;
        let found: Vec<_> = names(&given.claims).into_iter().filter(|name| !is_of_protocol(name)).collect();
        assert_eq!(found, ["email", "email_verified"]);
    })
    .await;
}

#[tokio::test]
async fn oidcc_prompt_none_not_logged_in() {
    each(&ALL, async |plan| {
        let url = plan.request(&[("prompt", "none"), ("state", LONG_STATE)]);
        plan.refusal(&plan.suite.op.browser().get(&url).await, &["login_required", "interaction_required"]);
    })
    .await;
}

/// A second request two seconds later that nobody is asked about: the same person, proved at the same time.
async fn goes_on(first: &[(&str, &str)], second: impl Fn(&Given) -> Vec<(&'static str, String)>) {
    each(&ALL, async |plan| {
        let mut browser = plan.suite.op.browser();
        let before = plan.sign_in(&mut browser, first).await;
        plan.suite.op.advance(Duration::from_secs(2)).await;
        let extra = second(&before);
        let extra: Vec<(&str, &str)> = extra.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let after = plan.success(&browser.get(&plan.request(&extra)).await).await;
        assert_eq!(after.claims["sub"], before.claims["sub"]);
        assert_eq!(auth_time(&after.claims), auth_time(&before.claims));
    })
    .await;
}

#[tokio::test]
async fn oidcc_prompt_none_logged_in() {
    goes_on(&[], |_| vec![("prompt", "none".to_owned())]).await;
}

#[tokio::test]
async fn oidcc_id_token_hint() {
    goes_on(&[], |before| {
        let hint = before.callback.get("id_token").cloned().unwrap_or_default();
        vec![("prompt", "none".to_owned()), ("id_token_hint", hint)]
    })
    .await;
}

#[tokio::test]
async fn oidcc_max_age_10000() {
    goes_on(&[("max_age", "15000")], |_| vec![("max_age", "10000".to_owned())]).await;
}

/// A second request two seconds later that asks for a new proof.
async fn proves_again(demand: (&str, &str)) {
    each(&[I1, H3], async |plan| {
        let mut browser = plan.suite.op.browser();
        let before = plan.sign_in(&mut browser, &[]).await;
        plan.suite.op.advance(Duration::from_secs(2)).await;
        let page = browser.get(&plan.request(&[demand])).await;
        assert!(page.page().has_id("login-submit"), "asked again: {}", page.body);
        let answer = plan.suite.go_on(&mut browser, page).await;
        let after = plan.success(&answer).await;
        assert!(auth_time(&after.claims) > auth_time(&before.claims));
    })
    .await;
}

#[tokio::test]
async fn oidcc_prompt_login() {
    proves_again(("prompt", "login")).await;
}

#[tokio::test]
async fn oidcc_max_age_1() {
    proves_again(("max_age", "1")).await;
}

#[tokio::test]
async fn oidcc_alternate_happy_flow() {
    each(&[I1, I2, H1], async |plan| {
        let url = plan.request(&[("scope", "phone profile openid email address")]);
        let (path, query) = url.split_once('?').expect("a query");
        let turned: Vec<&str> = query.split('&').rev().collect();
        let mut browser = plan.suite.op.browser();
        let answer = plan.suite.visit(&mut browser, &format!("{path}?{}", turned.join("&"))).await;
        plan.success(&answer).await;
    })
    .await;
}

#[tokio::test]
async fn oidcc_ensure_request_with_unknown_parameter_succeeds() {
    each(&ALL, async |plan| {
        plan.sign_in(&mut plan.suite.op.browser(), &[("extra", "foobar")]).await;
    })
    .await;
}

#[tokio::test]
async fn oidcc_ensure_registered_redirect_uri() {
    each(&ALL, async |plan| {
        let wrong = format!("{}/KdlhDUnm3N", FIRST.redirect_uri);
        stays(&plan.suite.op.browser().get(&plan.request(&[("redirect_uri", &wrong)])).await);
    })
    .await;
}

#[tokio::test]
async fn oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported() {
    each(&ALL, async |plan| {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let inside = encode(&format!(r#"{{"state":"{LONG_STATE}","nonce":"inside"}}"#));
        let object = format!("{}.{inside}.", encode(r#"{"alg":"none"}"#));
        let url = plan.request(&[("state", ""), ("nonce", ""), ("request", &object)]);
        plan.refusal(&plan.suite.op.browser().get(&url).await, &["invalid_request_object"]);
    })
    .await;
}

#[tokio::test]
async fn oidcc_codereuse() {
    each(&[H1, H2, H3], async |plan| {
        let mut browser = plan.suite.op.browser();
        // `success` has redeemed it once.
        let given = plan.sign_in(&mut browser, &[]).await;
        let again = plan.suite.exchange(FIRST, &given.callback["code"], &[]).await;
        crate::kit::token::refused(&again, 400, "invalid_grant");
    })
    .await;
}
