//! The implicit grant: what the authorization endpoint itself gives, RFC 6749 section 4.2, OpenID Connect Core
//! 3.2.2.5, 3.3.2.5 and 5.4. An act of its own beside the code's: it has its own grant and never a refresh token.

use super::resource::fit;
use super::scope::OFFLINE_ACCESS;
use super::{Entitlement, OfPerson};
use crate::model::client::Client;
use crate::model::grant::GrantTerms;
use crate::model::ids::SessionId;
use crate::model::resource::Resource;
use crate::model::response_type::ResponseType;
use crate::model::user::User;

/// What is known when a request is answered. That the person may receive anything was decided before.
#[derive(Clone, Copy)]
pub struct ImplicitFacts<'a> {
    /// What was asked for.
    pub response_type: ResponseType,
    /// For whom.
    pub client: &'a Client,
    /// On whose behalf.
    pub user: &'a User,
    /// In which session.
    pub session: SessionId,
    /// What the grant fixes.
    pub terms: &'a GrantTerms,
    /// The realm's resources.
    pub resources: &'a [Resource],
    /// The realm's issuer.
    pub issuer: &'a str,
}

/// What the tokens may say. The audience is that of a token request which names no resource of its own.
#[must_use]
pub fn entitle(facts: &ImplicitFacts<'_>) -> Entitlement {
    let ImplicitFacts { response_type, client, user, session, terms, .. } = *facts;
    let target = fit(&[], terms.resources.clone(), terms.scope.clone(), facts.resources, facts.issuer);
    let entitlement = OfPerson { user, client, terms, session, target }.entitlement(false);
    Entitlement { nonce: terms.nonce.clone(), issue_id_token: response_type.has_id_token(), ..entitlement }
}

/// What its grant fixes, from what the code's would: it ends with the session, so nothing in it may claim to
/// survive (OpenID Connect Core 11).
#[must_use]
pub fn terms(of_code: &GrantTerms) -> GrantTerms {
    let mut terms = of_code.clone();
    terms.offline = false;
    terms.scope.retain(|scope| scope != OFFLINE_ACCESS);
    terms
}

/// Whether the claims of the scopes stand in the ID token: only where no access token is to come with which they
/// could be asked for (Core 5.4).
#[must_use]
pub const fn has_scope_claims(response_type: ResponseType) -> bool {
    matches!(response_type, ResponseType::IdToken)
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{self, ISSUER};
    use super::*;

    fn entitled(response_type: ResponseType, terms: &GrantTerms, resources: &[Resource]) -> Entitlement {
        let (client, user) = (sample::client(), sample::user());
        let session = sample::SESSION;
        entitle(&ImplicitFacts {
            response_type,
            client: &client,
            user: &user,
            session,
            terms,
            resources,
            issuer: ISSUER,
        })
    }

    #[test]
    fn it_never_brings_a_refresh_token_and_an_id_token_only_where_it_was_asked_for() {
        let terms = GrantTerms { nonce: Some("n".to_owned()), ..sample::grant().terms };
        for response_type in ResponseType::ALL {
            let given = entitled(response_type, &terms, &[]);
            assert!(!given.issue_refresh && !given.offline, "{response_type:?}");
            assert_eq!(given.issue_id_token, response_type.has_id_token());
            assert_eq!((given.nonce.as_deref(), given.sid), (Some("n"), Some(sample::SESSION)));
            assert_eq!(given.audience, [ISSUER]);
        }
    }

    #[test]
    fn it_never_outlives_the_session() {
        let of_code =
            GrantTerms { scope: sample::words("openid offline_access email"), offline: true, ..sample::terms() };
        let terms = terms(&of_code);
        assert_eq!((terms.offline, terms.scope), (false, sample::words("openid email")));
    }

    #[test]
    fn the_audience_is_that_of_the_token_endpoint() {
        let resources = sample::resources();
        let named = resources.first().expect("a resource").identifier.clone();
        let terms =
            GrantTerms { resources: vec![named.clone()], scope: sample::words("openid"), ..sample::grant().terms };
        assert_eq!(entitled(ResponseType::Token, &terms, &resources).audience, [named, ISSUER.to_owned()]);
    }

    #[test]
    fn scope_claims_are_in_the_id_token_only_where_nothing_else_comes() {
        for response_type in ResponseType::ALL {
            assert_eq!(has_scope_claims(response_type), response_type == ResponseType::IdToken);
        }
    }
}
