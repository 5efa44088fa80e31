//! Every way a use case can say no, in every dialect: status, headers, body; and what a person and a
//! program see when the database is gone (`security` rows 13, 6; RFC 6749 5.2; RFC 6750 3).

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use doorward::clock::Clock;
use doorward::context::{Ctx, Site};
use doorward::domain::protocol::refusal::{OauthCode, Refusal};
use doorward::http::extract::call::Call;
use doorward::http::render::{bearer, oauth, page};
use doorward::service::{Error, Fault};
use http::{Request, Response};
use http_body_util::BodyExt;

use crate::kit::browser::Answer;
use crate::kit::flow::{WEB, authorize, post_as, text, tokens, userinfo};
use crate::kit::op::Op;

const SECRET: &str = "password=hunter2 at 10.0.0.5:5432";

const CODES: [OauthCode; 24] = [
    OauthCode::InvalidRequest,
    OauthCode::InvalidClient,
    OauthCode::InvalidGrant,
    OauthCode::UnauthorizedClient,
    OauthCode::UnsupportedGrantType,
    OauthCode::InvalidScope,
    OauthCode::AccessDenied,
    OauthCode::UnsupportedResponseType,
    OauthCode::ServerError,
    OauthCode::TemporarilyUnavailable,
    OauthCode::LoginRequired,
    OauthCode::ConsentRequired,
    OauthCode::InteractionRequired,
    OauthCode::AccountSelectionRequired,
    OauthCode::RequestNotSupported,
    OauthCode::RequestUriNotSupported,
    OauthCode::RegistrationNotSupported,
    OauthCode::UnmetAuthenticationRequirements,
    OauthCode::InvalidTarget,
    OauthCode::InvalidToken,
    OauthCode::InsufficientScope,
    OauthCode::UnsupportedTokenType,
    OauthCode::InvalidRedirectUri,
    OauthCode::InvalidClientMetadata,
];

fn refusal(code: OauthCode) -> Error {
    Error::Refused(Refusal::with(code, "some_reason", "this is \"wrong\"\r\nin a\\way: \u{e9}"))
}

fn others() -> Vec<Error> {
    vec![
        Error::Invalid(vec![Fault { pointer: "/name".to_owned(), detail: SECRET.to_owned() }]),
        Error::TooLarge { limit: 64 * 1024 },
        Error::NotFound,
        Error::Busy { retry_after: 7 },
        Error::Throttled { retry_after: 9, limit: 20 },
        Error::Unavailable { dependency: "database", source: SECRET.to_owned() },
        Error::Internal(SECRET.to_owned()),
    ]
}

async fn ctx(op: &Op) -> Ctx {
    let realm = Arc::new(op.db_realm("main").await);
    Ctx {
        now: op.clock.now(),
        site: Arc::new(Site::new(&op.public_url, &realm)),
        realm,
        request_id: "0123456789abcdef".into(),
        address: None,
        user_agent: None,
    }
}

fn call(op: &Op, ctx: &Ctx, accept: &str) -> Call {
    let request = Request::builder().uri("/login").header("accept", accept).body(()).expect("a request");
    Call::new(op.app.clone(), ctx.clone(), request.into_parts().0, Body::empty(), 0)
}

async fn read(response: Response<Body>) -> Answer {
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    let body = String::from_utf8(bytes.to_vec()).expect("text");
    Answer { url: String::new(), status: head.status, headers: head.headers, body }
}

/// The legend of the conformance page: an error as JSON.
fn is_json_error(answer: &Answer, code: &str) {
    assert_eq!(answer.header("content-type"), Some("application/json"), "{code}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{code}");
    let body = answer.json();
    assert_eq!(body["error"], code);
    let members: BTreeSet<&str> = body.as_object().expect("an object").keys().map(String::as_str).collect();
    assert!(members.is_subset(&BTreeSet::from(["error", "error_description"])), "{members:?}");
    let description = text(&body, "error_description");
    assert!(description.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\'), "{description}");
    assert!(!answer.body.contains("hunter2"), "{}", answer.body);
}

#[tokio::test]
async fn the_token_endpoints_dialect() {
    let op = Op::start().await;
    let ctx = ctx(&op).await;
    for code in CODES {
        let answer = read(oauth::error(&ctx, &refusal(code))).await;
        let status = match code {
            OauthCode::InvalidClient | OauthCode::InvalidToken => 401,
            OauthCode::ServerError => 500,
            OauthCode::TemporarilyUnavailable => 503,
            _ => 400,
        };
        assert_eq!(answer.status, status, "{code}");
        is_json_error(&answer, code.as_str());
        let challenged = answer.header("www-authenticate").is_some_and(|value| value.starts_with("Basic realm="));
        assert_eq!(challenged, code == OauthCode::InvalidClient, "{code}");
        assert_eq!(answer.header("retry-after").is_some(), status == 503, "{code}");
    }
    let expected = [
        (400, "invalid_request", None),
        (413, "invalid_request", None),
        (404, "invalid_request", None),
        (503, "temporarily_unavailable", Some("7")),
        (429, "temporarily_unavailable", Some("9")),
        (503, "temporarily_unavailable", Some("2")),
        (500, "server_error", None),
    ];
    for (error, (status, code, retry_after)) in others().iter().zip(expected) {
        let answer = read(oauth::error(&ctx, error)).await;
        assert_eq!(answer.status, status, "{error:?}");
        is_json_error(&answer, code);
        assert_eq!(answer.header("retry-after"), retry_after, "{error:?}");
    }
}

#[tokio::test]
async fn the_protected_resources_dialect() {
    let op = Op::start().await;
    let ctx = ctx(&op).await;
    let missing = Error::refused(OauthCode::InvalidToken, "token_missing", "send the access token as Bearer");
    let answer = read(bearer::error(&ctx, &missing)).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("www-authenticate")),
        (401, Some("Bearer")),
        "RFC 6750 section 3.1"
    );
    for code in CODES {
        let answer = read(bearer::error(&ctx, &refusal(code))).await;
        let status = match code {
            OauthCode::InvalidToken => 401,
            OauthCode::InsufficientScope | OauthCode::AccessDenied => 403,
            OauthCode::ServerError => 500,
            OauthCode::TemporarilyUnavailable => 503,
            _ => 400,
        };
        assert_eq!(answer.status, status, "{code}");
        is_json_error(&answer, code.as_str());
        let of_the_token =
            ![OauthCode::AccessDenied, OauthCode::InvalidRedirectUri, OauthCode::InvalidClientMetadata].contains(&code);
        if status < 500 && of_the_token {
            let challenge = answer.header("www-authenticate").expect("a challenge");
            assert!(challenge.starts_with(&format!("Bearer error=\"{code}\", error_description=\"")), "{challenge}");
            assert_eq!(challenge.matches('"').count(), 4, "{challenge}");
        } else {
            assert!(answer.header("www-authenticate").is_none(), "{code}: the token is not at fault");
        }
    }
    for (error, status) in others().iter().zip([400, 413, 404, 503, 429, 503, 500]) {
        let answer = read(bearer::error(&ctx, error)).await;
        assert_eq!(answer.status, status, "{error:?}");
        assert!(answer.header("www-authenticate").is_none(), "{error:?}");
        assert_eq!(answer.header("retry-after").is_some(), [429, 503].contains(&status), "{error:?}");
        assert!(!answer.body.contains("hunter2"), "{}", answer.body);
    }
}

#[tokio::test]
async fn the_pages_dialect() {
    let op = Op::start().await;
    let ctx = ctx(&op).await;
    for code in CODES {
        let answer = read(page::error(&call(&op, &ctx, "text/html"), &refusal(code))).await;
        assert!(answer.status.is_client_error() || answer.status.is_server_error(), "{code}");
        assert!(answer.body.contains("0123456789abcdef"), "{code}: the reference");
        assert!(!answer.body.contains("<script>"), "{code}");
    }
    for (error, status) in others().iter().zip([422, 413, 404, 503, 429, 503, 500]) {
        let answer = read(page::error(&call(&op, &ctx, "text/html"), error)).await;
        assert_eq!(answer.status, status, "{error:?}");
        assert!(answer.header("content-type").is_some_and(|media| media.starts_with("text/html")), "{error:?}");
        assert_eq!(answer.header("retry-after").is_some(), [429, 503].contains(&status), "{error:?}");
        assert!(answer.body.contains("0123456789abcdef"), "{error:?}: the reference");
        for word in ["hunter2", "10.0.0.5", "database", "/name"] {
            assert!(!answer.body.contains(word), "{error:?} tells {word}");
        }
    }
    let plain = read(page::error(&call(&op, &ctx, "*/*"), &Error::NotFound)).await;
    assert_eq!(plain.header("content-type"), Some("text/plain; charset=utf-8"), "programs get a line");
}

#[tokio::test]
async fn without_its_database_it_says_so_and_believes_nothing() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let got = tokens(&op, &mut browser, WEB, "openid profile").await;
    browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    op.app.store.close().await;
    // Stale read models are not believed (`security-design` rule 3).
    op.advance_only(std::time::Duration::from_secs(5));
    let token = post_as(&op, WEB, "/token", &[("grant_type", "client_credentials")]).await;
    let refreshed = crate::kit::flow::refresh(&op, WEB, text(&got, "refresh_token")).await;
    let introspected = post_as(&op, WEB, "/introspect", &[("token", text(&got, "access_token"))]).await;
    for answer in [token, refreshed, introspected, userinfo(&op, text(&got, "access_token")).await] {
        assert_eq!(answer.status, 503, "{}: {}", answer.url, answer.body);
        assert!(answer.header("retry-after").is_some(), "{}", answer.url);
        assert!(answer.header("x-request-id").is_some(), "{}", answer.url);
        assert!(!answer.body.contains("active") && !answer.body.contains("sqlx"), "{}", answer.body);
    }
    for path in ["/login?flow=x", "/logout", "/"] {
        let answer = op.get(path, &[("accept", "text/html")]).await;
        assert_eq!(answer.status, 503, "{path}: {}", answer.body);
        assert!(answer.header("retry-after").is_some(), "{path}");
    }
}
