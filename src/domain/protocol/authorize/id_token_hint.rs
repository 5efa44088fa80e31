//! `id_token_hint` (OpenID Connect Core 3.1.2.1): names a person, proves nothing. The caller has
//! verified it; an expired one still counts, garbage or a foreign one is refused.

use super::request::AuthorizeRequest;
use super::table::{Asked, HintFact};
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    match &asked.facts.id_token_hint {
        HintFact::Absent => Ok(()),
        HintFact::Subject { sub } => {
            request.hint_sub = Some(sub.clone());
            Ok(())
        }
        HintFact::Invalid => Err(Refusal::new(
            OauthCode::InvalidRequest,
            "id_token_hint_invalid",
            "id_token_hint is not an ID token of this issuer for this client",
        )),
    }
}
