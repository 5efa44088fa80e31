//! What is refused, and by which channel.

use super::{FIRST, LONG_STATE, PLANS, Suite};

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
