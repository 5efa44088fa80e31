//! The main job: a person signs in through the browser to a relying party that others wrote.

use openidconnect::core::{CoreAuthenticationFlow, CoreIdToken, CoreJwsSigningAlgorithm, CoreUserInfoClaims};
use openidconnect::{
    AccessTokenHash, AuthorizationCode, CsrfToken, HttpRequest, Nonce, OAuth2TokenResponse, PkceCodeChallenge, Scope,
    TokenResponse,
};

use crate::kit::flow::{ASKER, Client, NATIVE, WEB};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::relying_party::{discover, transport};

async fn signs_in(client: Client, scopes: &[&str]) {
    let op = Op::start().await;
    let front = op.front.clone();
    let send = move |request: HttpRequest| transport(front.clone(), request);
    let relying_party = discover(&op, client).await;
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let mut request = relying_party
        .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
        .set_pkce_challenge(challenge);
    for scope in scopes {
        request = request.add_scope(Scope::new((*scope).to_owned()));
    }
    let (url, state, nonce) = request.url();

    let mut browser = op.browser();
    let login = browser.get(url.as_str()).await;
    assert_eq!(login.status, 200, "{}", login.body);
    let mut answer = browser.sign_in("alice", PASSWORD).await;
    if answer.page().has_id("consent-allow") {
        answer = browser.submit("consent-allow", &[]).await;
    }
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(answer.location().starts_with(client.redirect_uri), "{}", answer.location());
    assert_eq!(answer.location_param("state").as_deref(), Some(state.secret().as_str()));
    assert_eq!(answer.location_param("iss").as_deref(), Some("http://localhost:8080"));
    let code = AuthorizationCode::new(answer.location_param("code").expect("a code"));

    let tokens = relying_party
        .exchange_code(code)
        .expect("a token endpoint")
        .set_pkce_verifier(verifier)
        .request_async(&send)
        .await
        .expect("tokens");
    let id_token: &CoreIdToken = tokens.id_token().expect("an ID token");
    let now = chrono_now(&op);
    let verifier = relying_party
        .id_token_verifier()
        .set_allowed_algs([CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256])
        .set_time_fn(move || now);
    let claims = id_token.claims(&verifier, &nonce).expect("a verified ID token");
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id_token.signing_alg().expect("an algorithm"),
        id_token.signing_key(&verifier).expect("a key"),
    );
    assert_eq!(claims.access_token_hash(), Some(&hash.expect("a hash")));

    let userinfo: CoreUserInfoClaims = relying_party
        .user_info(tokens.access_token().clone(), Some(claims.subject().clone()))
        .expect("a userinfo endpoint")
        .request_async(&send)
        .await
        .expect("userinfo");
    assert_eq!(userinfo.given_name().and_then(|name| name.get(None)).map(|name| name.as_str()), Some("Alice"));

    let refreshed = relying_party
        .exchange_refresh_token(tokens.refresh_token().expect("a refresh token"))
        .expect("a token endpoint")
        .request_async(&send)
        .await
        .expect("refreshed tokens");
    assert_ne!(
        refreshed.refresh_token().map(openidconnect::RefreshToken::secret),
        tokens.refresh_token().map(openidconnect::RefreshToken::secret)
    );
}

/// The crate speaks chrono; the tests' clock stands at a fixed moment.
fn chrono_now(op: &Op) -> chrono::DateTime<chrono::Utc> {
    use doorward::clock::Clock;
    chrono::DateTime::from_timestamp(op.clock.now().as_secs(), 0).expect("a moment")
}

#[tokio::test]
async fn a_confidential_relying_party_signs_a_person_in() {
    signs_in(WEB, &["profile", "email"]).await;
}

#[tokio::test]
async fn a_public_relying_party_signs_a_person_in() {
    signs_in(NATIVE, &["profile", "offline_access"]).await;
}

#[tokio::test]
async fn a_relying_party_that_asks_for_consent_signs_a_person_in() {
    signs_in(ASKER, &["profile", "offline_access"]).await;
}
