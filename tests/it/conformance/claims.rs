//! Userinfo, scopes and the `claims` parameter.

use super::{PLANS, Suite};
use crate::kit::flow::text;
use crate::kit::token::names;

pub(super) const PROFILE: [&str; 14] = [
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

/// Userinfo gives exactly these for a scope; the ID token holds none of them ([`Suite::id_token`] looks).
async fn gives(scope: &str, wanted: &[&str]) {
    let mut wanted: Vec<&str> = wanted.iter().copied().chain(["sub"]).collect();
    wanted.sort_unstable();
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[("scope", scope)]).await;
        assert_eq!(names(&suite.userinfo(&tokens, &claims).await), wanted);
    }
}

#[tokio::test]
async fn oidcc_scope_profile() {
    gives("openid profile", &PROFILE).await;
}

#[tokio::test]
async fn oidcc_scope_email() {
    gives("openid email", &["email", "email_verified"]).await;
}

#[tokio::test]
async fn oidcc_scope_address() {
    gives("openid address", &["address"]).await;
}

#[tokio::test]
async fn oidcc_scope_phone() {
    gives("openid phone", &["phone_number", "phone_number_verified"]).await;
}

#[tokio::test]
async fn oidcc_scope_all() {
    let all = [&PROFILE[..], &["email", "email_verified", "address", "phone_number", "phone_number_verified"]];
    gives("openid profile email address phone", &all.concat()).await;
}

#[tokio::test]
async fn oidcc_userinfo_get() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
        suite.userinfo(&tokens, &claims).await;
    }
}

#[tokio::test]
async fn oidcc_userinfo_post_header() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
        let bearer = format!("Bearer {}", text(&tokens, "access_token"));
        let answer = suite.op.raw("POST", "/userinfo", &[("authorization", &bearer)], "").await;
        suite.checked_userinfo(&answer, &claims);
    }
}

#[tokio::test]
async fn oidcc_userinfo_post_body() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
        let answer = suite.op.post("/userinfo", &[("access_token", text(&tokens, "access_token"))], &[]).await;
        suite.checked_userinfo(&answer, &claims);
    }
}

#[tokio::test]
async fn oidcc_claims_essential() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
        assert_eq!(document["claims_parameter_supported"], true);
        let wish = ("claims", r#"{"userinfo":{"name":{"essential":true}}}"#);
        // `Suite::id_token` looks that it is not in the ID token.
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[wish]).await;
        let info = suite.userinfo(&tokens, &claims).await;
        assert_eq!((info["name"].as_str(), names(&info).len()), (Some("Alice Adams"), 2), "{info}");
    }
}
