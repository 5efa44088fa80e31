//! `response_mode` (OAuth 2.0 Multiple Response Types 2.1, Form Post Response Mode): `query` by default,
//! `form_post` when asked for. A refusal travels in the same mode, in `query` where it is not readable.

use super::request::{AuthorizeRequest, ResponseMode};
use super::table::Asked;
use crate::protocol::params::Params;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    if let Some(text) = asked.params.get("response_mode") {
        request.response_mode = ResponseMode::from_name(text).ok_or(Refusal::new(
            OauthCode::InvalidRequest,
            "response_mode_unsupported",
            "response_mode must be query or form_post",
        ))?;
    }
    Ok(())
}

/// The mode in which a refusal travels.
pub(super) fn for_refusal(params: &Params) -> ResponseMode {
    params.get("response_mode").and_then(ResponseMode::from_name).unwrap_or_default()
}
