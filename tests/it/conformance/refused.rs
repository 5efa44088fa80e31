//! What is refused, and by which channel.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{FIRST, LONG_STATE, PLANS, Suite, stays};

#[tokio::test]
async fn oidcc_response_type_missing() {
    // Without a response type nothing says where the answer belongs but `response_mode`.
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let url = suite.request(FIRST, &[("response_type", ""), ("state", LONG_STATE)]);
        let answer = suite.op.browser().get(&url).await;
        suite.refusal(FIRST, &answer, &["invalid_request", "unsupported_response_type"]);
    }
}

/// A request object that nobody signed.
fn unsigned(payload: &str) -> String {
    format!("{}.{}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#), URL_SAFE_NO_PAD.encode(payload))
}

#[tokio::test]
async fn oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        // State and nonce are inside alone.
        let object = unsigned(&format!(r#"{{"state":"{LONG_STATE}","nonce":"inside"}}"#));
        let url = suite.request(FIRST, &[("state", ""), ("nonce", ""), ("request", &object)]);
        suite.refusal(FIRST, &suite.op.browser().get(&url).await, &["request_not_supported"]);
    }
}

#[tokio::test]
async fn oidcc_request_uri_unsigned_supported_correctly_or_rejected_as_unsupported() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let uri = "https://suite.example/test/a/first/requesturi/x#5JhGXe5wXnlqT5tQ8vF1Hg";
        let url = suite.request(FIRST, &[("state", LONG_STATE), ("request_uri", uri)]);
        suite.refusal(FIRST, &suite.op.browser().get(&url).await, &["request_uri_not_supported"]);
    }
}

#[tokio::test]
async fn oidcc_ensure_request_object_with_redirect_uri() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let object = unsigned(&format!(r#"{{"redirect_uri":"{}","state":"{LONG_STATE}"}}"#, FIRST.redirect_uri));
        let wrong = format!("{}/wrong", FIRST.redirect_uri);
        // Never `request_not_supported` to an address that nobody asked for.
        for outside in [wrong.as_str(), ""] {
            let url = suite.request(FIRST, &[("redirect_uri", outside), ("request", &object)]);
            stays(&suite.op.browser().get(&url).await);
        }
    }
}
