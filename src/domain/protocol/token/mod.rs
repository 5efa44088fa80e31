//! The grants, one per file: facts and request in, [`Entitlement`] or refusal out.
//!
//! An entitlement is everything a token may say. Making tokens of it is `service/token/mint`.

pub mod authorization_code;
pub mod client_credentials;
pub mod implicit;
pub mod refresh_token;
pub mod resource;
pub mod scope;

use crate::model::client::Client;
use crate::model::grant::GrantTerms;
use crate::model::ids::{ClientKey, SessionId, UserId};
use crate::model::session::{Acr, Amr};
use crate::model::timestamp::Timestamp;
use crate::model::user::User;
use crate::protocol::requested_claims::RequestedClaims;

/// Whom the tokens speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A person; which `sub` she has depends on the client ([`crate::protocol::subject`]).
    Person {
        /// The internal key.
        user: UserId,
    },
    /// The client itself; its `sub` is its `client_id`.
    Client,
}

/// What a grant gives now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entitlement {
    /// Whom the tokens speak of.
    pub subject: Subject,
    /// To whom they are given: the internal key.
    pub client: ClientKey,
    /// To whom they are given: the public id.
    pub client_id: String,
    /// Scopes of this access token.
    pub scope: Vec<String>,
    /// Its `aud`, never empty (RFC 9068 section 2.2).
    pub audience: Vec<String>,
    /// The resources among them, in their registered spelling.
    pub resources: Vec<String>,
    /// When the person proved herself.
    pub auth_time: Option<Timestamp>,
    /// What the proof amounted to.
    pub acr: Option<Acr>,
    /// How it was proved.
    pub amr: Vec<Amr>,
    /// The request's nonce; only for the first ID token (OpenID Connect Core 12.2).
    pub nonce: Option<String>,
    /// The session.
    pub sid: Option<SessionId>,
    /// Single claims that were asked for, as [`RequestedClaims`] writes them.
    pub claims: Option<String>,
    /// Confirmation key thumbprint.
    pub cnf: Option<String>,
    /// Whether the grant outlives its session.
    pub offline: bool,
    /// Whether a refresh token comes with it.
    pub issue_refresh: bool,
    /// Whether an ID token comes with it.
    pub issue_id_token: bool,
}

impl Entitlement {
    /// Single claims that were asked for; none costs nothing.
    #[must_use]
    pub fn requested_claims(&self) -> RequestedClaims {
        self.claims.as_deref().map(RequestedClaims::from_text).unwrap_or_default()
    }
}

/// What the tokens of a person's grant say: the terms fixed at its birth, fitted to this request.
struct OfPerson<'a> {
    user: &'a User,
    client: &'a Client,
    terms: &'a GrantTerms,
    session: SessionId,
    target: resource::Target,
}

impl OfPerson<'_> {
    /// The entitlement, without a nonce; a refresh token comes along where the caller says so.
    fn entitlement(self, issue_refresh: bool) -> Entitlement {
        let Self { user, client, terms, session, target } = self;
        Entitlement {
            subject: Subject::Person { user: user.id },
            client: client.key,
            client_id: client.client_id.clone(),
            issue_id_token: target.scope.iter().any(|token| token == scope::OPENID),
            issue_refresh,
            scope: target.scope,
            audience: target.audience,
            resources: target.resources,
            auth_time: Some(terms.auth_time),
            acr: Some(terms.acr),
            amr: terms.amr.clone(),
            nonce: None,
            sid: Some(session),
            claims: terms.claims.clone(),
            cnf: terms.cnf.clone(),
            offline: terms.offline,
        }
    }
}
