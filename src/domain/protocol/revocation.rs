//! Token revocation: RFC 7009 sections 2.1 and 2.2 (behaviour case B-21).
//!
//! The hint only orders the search and our tokens tell their kind by their looks, so it is not even an
//! argument here. Unknown, expired and already revoked tokens are a success.

use super::access_token::AccessToken;
use super::refusal::{OauthCode, Refusal};
use crate::model::client::Client;
use crate::model::grant::Grant;
use crate::model::ids::{GrantId, TokenId};
use crate::model::timestamp::Timestamp;

/// What the presented string turned out to be.
#[derive(Clone, Copy)]
pub enum Found<'a> {
    /// Nothing of ours, or a signature, seal, tag or secret that does not fit.
    Nothing,
    /// An access token of ours, live or not.
    Access(&'a AccessToken),
    /// A refresh token of ours of any generation, with its grant.
    Refresh(&'a Grant),
}

/// What is to be done before the answer 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// Nothing.
    Nothing,
    /// Put the token's id on the deny list until it would have ended.
    Deny {
        /// Which.
        jti: TokenId,
        /// Its end.
        until: Timestamp,
    },
    /// End the grant: its refresh token and every access token of it (RFC 7009 section 2.1).
    EndGrant(GrantId),
}

/// Decides on a revocation by an authenticated (or public) client. A token of another client is
/// refused and never revoked.
pub fn check_revocation(found: Found<'_>, client: &Client, now: Timestamp) -> Result<Revocation, Refusal> {
    match found {
        Found::Nothing => Ok(Revocation::Nothing),
        Found::Access(token) if token.client_id != client.client_id => Err(foreign()),
        Found::Access(token) if token.exp <= now.as_secs() => Ok(Revocation::Nothing),
        Found::Access(token) => Ok(Revocation::Deny { jti: token.jti, until: Timestamp::from_secs(token.exp) }),
        Found::Refresh(grant) if grant.client != client.key => Err(foreign()),
        Found::Refresh(grant) if grant.ended.is_some() => Ok(Revocation::Nothing),
        Found::Refresh(grant) => Ok(Revocation::EndGrant(grant.id)),
    }
}

const fn foreign() -> Refusal {
    Refusal::new(
        OauthCode::InvalidGrant,
        "revocation_of_other_client",
        "the token was not issued to this client (RFC 7009 section 2.1)",
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, ISSUER};
    use super::*;
    use crate::model::ids::ClientKey;
    use crate::model::session::{EndReason, Ended};

    fn token(exp: i64) -> AccessToken {
        AccessToken {
            iss: ISSUER.to_owned(),
            sub: "s".to_owned(),
            aud: vec![ISSUER.to_owned()],
            client_id: "web".to_owned(),
            exp,
            iat: 0,
            jti: TokenId::from_bytes([7; 16]),
            scope: Vec::new(),
            auth_time: None,
            acr: None,
            amr: Vec::new(),
            sid: None,
            gid: Some(sample::GRANT),
            cid: None,
            cnf_jkt: None,
            user: None,
            userinfo_claims: Vec::new(),
        }
    }

    fn stranger() -> Client {
        Client { client_id: "other".to_owned(), key: ClientKey::from_bytes([99; 16]), ..sample::client() }
    }

    #[test]
    fn unknown_expired_and_revoked_tokens_are_a_success() {
        let client = sample::client();
        let ended = Some(Ended { at: sample::ago(1), reason: EndReason::RevokedByClient });
        let grant = Grant { ended, ..sample::grant() };
        let expired = token(sample::now().as_secs());
        for found in [Found::Nothing, Found::Access(&expired), Found::Refresh(&grant)] {
            assert_eq!(check_revocation(found, &client, sample::now()), Ok(Revocation::Nothing));
        }
    }

    #[test]
    fn a_refresh_token_takes_its_access_tokens_with_it() {
        let got = check_revocation(Found::Refresh(&sample::grant()), &sample::client(), sample::now());
        assert_eq!(got, Ok(Revocation::EndGrant(sample::GRANT)));
    }

    #[test]
    fn an_access_token_goes_on_the_deny_list_until_its_end() {
        let live = token(1_800_000_300);
        let got = check_revocation(Found::Access(&live), &sample::client(), sample::now());
        assert_eq!(got, Ok(Revocation::Deny { jti: live.jti, until: sample::later(300) }));
    }

    #[test]
    fn another_clients_token_is_refused_and_never_revoked() {
        let live = token(1_800_000_300);
        let grant = sample::grant();
        for found in [Found::Access(&live), Found::Refresh(&grant)] {
            let refusal = check_revocation(found, &stranger(), sample::now()).unwrap_err();
            assert_eq!(refusal.reason, "revocation_of_other_client");
        }
    }
}
