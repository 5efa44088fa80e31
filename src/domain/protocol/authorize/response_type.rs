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

#[cfg(test)]
mod tests {
    use super::super::example::{client, outcome_for, refused};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn only_code_is_supported() {
        assert_eq!(refused(&[("response_type", "")]), (OauthCode::InvalidRequest, "response_type_missing"));
        for other in
            ["token", "id_token", "code id_token", "code token", "code code", "none", "CODE", "id_token<script>"]
        {
            let expected = (OauthCode::UnsupportedResponseType, "response_type_unsupported");
            assert_eq!(refused(&[("response_type", other)]), expected, "{other}");
        }
    }

    #[test]
    fn a_client_without_the_code_grant_is_unauthorized() {
        let mut machine = client();
        machine.metadata.grant_types = vec![GrantType::ClientCredentials];
        let Outcome::Redirect(error) = outcome_for(&machine, &[]) else { panic!("not refused") };
        assert_eq!(error.refusal.code, OauthCode::UnauthorizedClient);
    }
}
