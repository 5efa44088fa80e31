//! `id_token_hint` (OpenID Connect Core 3.1.2.1): names a person, proves nothing. The caller has
//! verified it; an expired one still counts, garbage or a foreign one is refused.

use super::request::AuthorizeRequest;
use super::table::{Asked, HintFact};
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    match &asked.facts.id_token_hint {
        HintFact::Absent => Ok(()),
        HintFact::Subject { sub, sid } => {
            request.hint_sub = Some(sub.clone());
            request.hint_sid = *sid;
            Ok(())
        }
        HintFact::Invalid => Err(Refusal::new(
            OauthCode::InvalidRequest,
            "id_token_hint_invalid",
            "id_token_hint is not an ID token of this issuer for this client",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::super::table::{Facts, Outcome, check};
    use super::{HintFact, OauthCode};

    #[test]
    fn a_hint_names_a_subject_and_garbage_is_refused() {
        let (realm, client) = (example::realm(), example::client());
        let outcome = |id_token_hint| {
            check(
                &example::with(&[]),
                &Facts { realm: &realm, client: Some(&client), resources: &[], scopes: &[], id_token_hint },
            )
        };
        let Outcome::Request(request) = outcome(HintFact::Subject { sub: "alice".to_owned(), sid: None }) else {
            panic!("refused")
        };
        assert_eq!(request.hint_sub.as_deref(), Some("alice"));
        let Outcome::Redirect(error) = outcome(HintFact::Invalid) else { panic!("not refused") };
        assert_eq!(error.refusal.code, OauthCode::InvalidRequest);
    }
}
