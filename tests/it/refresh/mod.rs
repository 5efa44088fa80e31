//! Refresh tokens (RFC 6749 section 6, RFC 9700 section 4.14, OpenID Connect Core 12; behaviour cases
//! B-17 and B-18; `security-design` rules 2, 4, 8 to 10).

mod ends;
mod forged;
mod matrix;
mod rotation;
mod scope;
mod theft;

use crate::kit::browser::Answer;
use crate::kit::flow::{Client, post_as, post_as_from};
use crate::kit::op::Op;

/// A refresh from an address with a `User-Agent`.
async fn refresh_from(op: &Op, from: [u8; 4], agent: &str, client: Client, token: &str) -> Answer {
    let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
    post_as_from(op, (from.into(), Some(agent)), client, "/token", &fields).await
}

/// A refresh with more parameters.
async fn refresh_with(op: &Op, client: Client, token: &str, more: &[(&str, &str)]) -> Answer {
    let fields = [&[("grant_type", "refresh_token"), ("refresh_token", token)][..], more].concat();
    post_as(op, client, "/token", &fields).await
}
