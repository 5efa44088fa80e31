//! Userinfo, scopes and the `claims` parameter.

use serde_json::Value;

use super::{PLANS, Suite};
use crate::kit::flow::text;
use crate::kit::token::names;

const PROFILE: [&str; 14] = [
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "updated_at",
];

/// Userinfo for a scope; the ID token holds none of its claims ([`Suite::id_token`] looks).
async fn of_scope(mode: &'static str, scope: &str) -> Value {
    let suite = Suite::start(mode).await;
    let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[("scope", scope)]).await;
    suite.userinfo(&tokens, &claims).await
}

fn assert_exactly(info: &Value, wanted: &[&str]) {
    let mut wanted: Vec<&str> = wanted.iter().copied().chain(["sub"]).collect();
    wanted.sort_unstable();
    let mut found = names(info);
    found.sort_unstable();
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn oidcc_scope_profile() {
    for mode in PLANS {
        assert_exactly(&of_scope(mode, "openid profile").await, &PROFILE);
    }
}

#[tokio::test]
async fn oidcc_scope_email() {
    for mode in PLANS {
        assert_exactly(&of_scope(mode, "openid email").await, &["email", "email_verified"]);
    }
}

#[tokio::test]
async fn oidcc_scope_address() {
    for mode in PLANS {
        assert_exactly(&of_scope(mode, "openid address").await, &["address"]);
    }
}

#[tokio::test]
async fn oidcc_scope_phone() {
    for mode in PLANS {
        assert_exactly(&of_scope(mode, "openid phone").await, &["phone_number", "phone_number_verified"]);
    }
}

#[tokio::test]
async fn oidcc_scope_all() {
    for mode in PLANS {
        let all = [&PROFILE[..], &["email", "email_verified", "address", "phone_number", "phone_number_verified"]];
        assert_exactly(&of_scope(mode, "openid profile email address phone").await, &all.concat());
    }
}

#[tokio::test]
async fn oidcc_userinfo_get() {
    for mode in PLANS {
        let suite = Suite::start(mode).await;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
        suite.userinfo(&tokens, &claims).await;
    }
}

#[tokio::test]
async fn oidcc_userinfo_post_header() {
    for mode in PLANS {
        let suite = Suite::start(mode).await;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
        let bearer = format!("Bearer {}", text(&tokens, "access_token"));
        let answer = suite.op.raw("POST", "/userinfo", &[("authorization", &bearer)], "").await;
        suite.checked_userinfo(&answer, &claims);
    }
}

#[tokio::test]
async fn oidcc_userinfo_post_body() {
    for mode in PLANS {
        let suite = Suite::start(mode).await;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
        let answer = suite.op.post("/userinfo", &[("access_token", text(&tokens, "access_token"))], &[]).await;
        suite.checked_userinfo(&answer, &claims);
    }
}

#[tokio::test]
async fn oidcc_claims_essential() {
    // The parameter is not built and not announced: the request works, and nothing gets into the ID
    // token by it; what its scope allows comes from userinfo (the suite's warning, not its failure).
    for mode in PLANS {
        let suite = Suite::start(mode).await;
        let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
        assert_ne!(document["claims_parameter_supported"], true);
        let wish = ("claims", r#"{"userinfo":{"name":{"essential":true}}}"#);
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[wish, ("scope", "openid profile")]).await;
        assert!(claims.get("name").is_none(), "{claims}");
        assert_eq!(suite.userinfo(&tokens, &claims).await["name"], "Alice Adams");
    }
}
