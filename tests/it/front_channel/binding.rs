//! ID tokens from the authorization endpoint: what they bind and what they say.

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{CAREFUL, OLD, answer, fields, names, start, start_with_tokens};
use crate::kit::flow::{decode, redeem, text};
use crate::kit::token::{given, verified};

#[tokio::test]
async fn alone_it_brings_the_claims_of_its_scopes() {
    let op = start().await;
    let mut browser = op.browser();
    let wish = [("response_type", "id_token")];
    let fields = fields(&mut browser, OLD, "openid email phone roles", &wish).await;
    assert_eq!(names(&fields), ["id_token"]);
    let (_, claims) = verified(&op, &fields["id_token"]).await;
    assert_eq!((text(&claims, "nonce"), text(&claims, "aud")), ("no", "old"));
    assert_eq!((text(&claims, "email"), &claims["email_verified"]), ("alice@example.com", &json!(true)));
    assert_eq!((text(&claims, "phone_number"), &claims["roles"]), ("+49 30 901820", &json!(["editor", "reader"])));
    for absent in ["at_hash", "c_hash", "name", "given_name"] {
        assert!(claims.get(absent).is_none(), "{absent}: {claims}");
    }
}

#[tokio::test]
async fn beside_anything_that_leads_to_userinfo_it_says_no_more_than_from_the_token_endpoint() {
    let op = start_with_tokens().await;
    let mut browser = op.browser();
    for kind in ["code id_token", "id_token token", "code id_token token"] {
        let fields = fields(&mut browser, OLD, "openid profile email", &[("response_type", kind)]).await;
        let (_, claims) = verified(&op, &fields["id_token"]).await;
        for absent in ["name", "email", "updated_at"] {
            assert!(claims.get(absent).is_none(), "{kind}: {absent} in {claims}");
        }
    }
}

#[tokio::test]
async fn it_binds_what_comes_with_it_by_the_hash_of_its_own_algorithm() {
    let op = start_with_tokens().await;
    for (alg, hash) in
        [("RS256", &digest::SHA256), ("PS256", &digest::SHA256), ("ES256", &digest::SHA256), ("EdDSA", &digest::SHA512)]
    {
        op.apply(&format!("realm: main\nclients: [{{ client_id: old, id_token_signed_response_alg: {alg} }}]\n")).await;
        let mut browser = op.browser();
        let half = |text: &str| {
            let sum = digest::digest(hash, text.as_bytes());
            URL_SAFE_NO_PAD.encode(&sum.as_ref()[..hash.output_len() / 2])
        };
        for kind in ["code id_token", "id_token token", "code id_token token"] {
            let fields = fields(&mut browser, OLD, "openid", &[("response_type", kind)]).await;
            let (header, claims) = verified(&op, &fields["id_token"]).await;
            assert_eq!(text(&header, "alg"), alg);
            let expected = |name: &str| fields.get(name).map_or(Value::Null, |text| json!(half(text)));
            assert_eq!(claims["c_hash"], expected("code"), "{alg} {kind}");
            assert_eq!(claims["at_hash"], expected("access_token"), "{alg} {kind}");
        }
    }
}

#[tokio::test]
async fn both_channels_speak_of_the_same_person_in_the_same_session() {
    let op = start().await;
    let mut browser = op.browser();
    let fields = fields(&mut browser, OLD, "openid offline_access", &[("response_type", "code id_token")]).await;
    assert_eq!(names(&fields), ["code", "id_token"]);
    let (_, front) = verified(&op, &fields["id_token"]).await;
    let tokens = given(&redeem(&op, OLD, &fields["code"]).await);
    assert!(tokens["refresh_token"].is_string(), "the code brings all that a code brings: {tokens}");
    let (_, back) = decode(text(&tokens, "id_token"));
    for name in ["iss", "sub", "aud", "sid", "nonce", "auth_time"] {
        assert_eq!(front[name], back[name], "{name}");
    }
    assert!(back.get("c_hash").is_none(), "{back}");
}

#[tokio::test]
async fn a_public_client_proves_its_code_by_pkce_and_people_are_asked() {
    let op = start().await;
    let mut browser = op.browser();
    let fields = fields(&mut browser, CAREFUL, "openid", &[("response_type", "id_token code")]).await;
    given(&redeem(&op, CAREFUL, &fields["code"]).await);
    // Where there is no code there is nothing to prove.
    let without = [("response_type", "id_token"), ("code_challenge", ""), ("code_challenge_method", "")];
    let silent = [&without[..], &[("prompt", "none")]].concat();
    let fields = super::fields(&mut browser, CAREFUL, "openid", &silent).await;
    assert_eq!(names(&fields), ["id_token"]);
    // She allowed openid, and is asked about what is new.
    let asked = browser.get(&crate::kit::flow::authorize(CAREFUL, "openid email", &without)).await;
    assert!(asked.page().has_id("consent-allow"), "{}", asked.body);
}

#[tokio::test]
async fn a_form_carries_it_as_well() {
    let op = start_with_tokens().await;
    let mut browser = op.browser();
    for (kind, expected) in [
        ("id_token", &["id_token", "state", "iss"][..]),
        ("code id_token", &["code", "id_token", "state", "iss"]),
        ("code token", &["code", "access_token", "token_type", "expires_in", "state", "iss"]),
    ] {
        let wish = [("response_type", kind), ("response_mode", "form_post")];
        let answer = answer(&mut browser, OLD, "openid", &wish).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let form = answer.page().form_with("form-post-submit").expect("a form");
        assert_eq!(form.action, OLD.redirect_uri);
        let sent = form.filled("form-post-submit", &[]);
        assert_eq!(sent.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), expected, "{kind}");
    }
}

#[tokio::test]
async fn a_code_may_travel_in_the_fragment_too() {
    let op = start().await;
    let mut browser = op.browser();
    let fields = fields(&mut browser, OLD, "openid", &[("response_mode", "fragment")]).await;
    assert_eq!(names(&fields), ["code"]);
    given(&redeem(&op, OLD, &fields["code"]).await);
}
