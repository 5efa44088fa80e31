//! `response_type` (RFC 6749 section 3.1.1): `code` alone. What would hand out tokens through the
//! browser is refused (RFC 9700 section 2.1.2), and the client must be registered for the code flow.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::model::client::{GrantType, ResponseType};
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, _: &mut AuthorizeRequest) -> Result<(), Refusal> {
    match asked.params.get("response_type") {
        Some("code") => {}
        Some(_) => {
            return Err(Refusal::new(
                OauthCode::UnsupportedResponseType,
                "response_type_unsupported",
                "the only supported response_type is code",
            ));
        }
        None => {
            return Err(Refusal::new(
                OauthCode::InvalidRequest,
                "response_type_missing",
                "response_type is missing; it must be code",
            ));
        }
    }
    let metadata = &asked.client.metadata;
    if !asked.client.has_grant(GrantType::AuthorizationCode) || !metadata.response_types.contains(&ResponseType::Code) {
        return Err(Refusal::new(
            OauthCode::UnauthorizedClient,
            "grant_not_registered",
            "this client is not registered for the authorization code grant",
        ));
    }
    Ok(())
}
