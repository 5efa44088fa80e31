//! The code grant: RFC 6749 section 4.1.3, OpenID Connect Core 3.1.3, RFC 7636 section 4.6, RFC 8707
//! section 2.2, RFC 9700 section 4.5.
//!
//! A code is a sealed [`CodePayload`]; nothing of it is stored before it is redeemed. The outcome's
//! type says what a presentation does to the code (`security-design` rule 12): only [`CodeOutcome::Redeem`]
//! carries the entitlement that a redemption needs, so no other presentation can burn it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::resource::{fit, narrow};
use super::scope::has;
use super::{Entitlement, OfPerson};
use crate::model::client::{Client, GrantType};
use crate::model::grant::{Grant, GrantTerms};
use crate::model::ids::{ClientKey, CodeId, GrantId, SessionId, UserId};
use crate::model::realm::Realm;
use crate::model::resource::Resource;
use crate::model::session::{Acr, Amr};
use crate::model::timestamp::Timestamp;
use crate::model::user::User;
use crate::protocol::refusal::{OauthCode, Refusal};

/// What an authorization code says once it is unsealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Wire", try_from = "Wire")]
pub struct CodePayload {
    /// Its identity, the single-use gate.
    pub code: CodeId,
    /// The client it was made for.
    pub client: ClientKey,
    /// The same, as it is called in public.
    pub client_id: String,
    /// On whose behalf.
    pub user: UserId,
    /// In which session.
    pub session: SessionId,
    /// Where it was sent; the token request must name the same.
    pub redirect_uri: String,
    /// The S256 challenge (RFC 7636), if one was sent.
    pub code_challenge: Option<String>,
    /// What the grant will fix.
    pub terms: GrantTerms,
    /// The user's credential epoch when the first factor was checked.
    pub credential_epoch: i64,
    /// Made.
    pub issued_at: Timestamp,
    /// Too late from here on.
    pub expires_at: Timestamp,
}

impl CodePayload {
    /// The grant that it makes at redemption, with what is fixed in it (`security-design` rule 2). Without a refresh
    /// token: whoever gives one adds its secret's hash.
    #[must_use]
    pub fn grant(&self, realm: &Realm, id: GrantId, presenter: [u8; 16], now: Timestamp) -> Grant {
        Grant {
            realm: realm.id,
            id,
            client: self.client,
            user: self.user,
            session: self.session,
            code: Some(self.code),
            grant_type: GrantType::AuthorizationCode,
            terms: self.terms.clone(),
            refresh_secret_hash: None,
            generation: 0,
            rotated_at: now,
            presenter: Some(presenter),
            grace_streak: 0,
            grace_generation: 0,
            created_at: now,
            last_used_at: now,
            expires_at: now.plus(realm.settings.tokens.refresh_absolute.get()),
            ended: None,
        }
    }

    /// The bytes that are sealed.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads unsealed bytes; `None` when they are not a code of this version.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// The compact form: a code travels in an address, so names are one letter and the four ids are one
/// string.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    i: String,
    c: String,
    r: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p: Option<String>,
    s: String,
    #[serde(default, skip_serializing_if = "is_false")]
    o: bool,
    t: Timestamp,
    a: Acr,
    m: Vec<Amr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    q: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    u: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    k: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    d: Option<String>,
    v: i32,
    e: i64,
    b: Timestamp,
    z: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl From<CodePayload> for Wire {
    fn from(code: CodePayload) -> Self {
        let ids = [*code.code.as_bytes(), *code.client.as_bytes(), *code.user.as_bytes(), *code.session.as_bytes()];
        Self {
            i: URL_SAFE_NO_PAD.encode(ids.as_flattened()),
            c: code.client_id,
            r: code.redirect_uri,
            p: code.code_challenge,
            s: code.terms.scope.join(" "),
            o: code.terms.offline,
            t: code.terms.auth_time,
            a: code.terms.acr,
            m: code.terms.amr,
            n: code.terms.nonce,
            q: code.terms.claims,
            u: code.terms.resources,
            k: code.terms.cnf,
            x: code.terms.actor,
            d: code.terms.authorization_details,
            v: code.terms.key_version,
            e: code.credential_epoch,
            b: code.issued_at,
            z: code.expires_at,
        }
    }
}

impl TryFrom<Wire> for CodePayload {
    type Error = &'static str;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        let ids = URL_SAFE_NO_PAD.decode(&wire.i).map_err(|_| "ids")?;
        let (ids, rest) = ids.as_chunks::<16>();
        let ([code, client, user, session], []) = (ids, rest) else { return Err("ids") };
        Ok(Self {
            code: CodeId::from_bytes(*code),
            client: ClientKey::from_bytes(*client),
            client_id: wire.c,
            user: UserId::from_bytes(*user),
            session: SessionId::from_bytes(*session),
            redirect_uri: wire.r,
            code_challenge: wire.p,
            terms: GrantTerms {
                scope: super::scope::tokens(&wire.s).map(str::to_owned).collect(),
                offline: wire.o,
                auth_time: wire.t,
                acr: wire.a,
                amr: wire.m,
                nonce: wire.n,
                claims: wire.q,
                resources: wire.u,
                cnf: wire.k,
                actor: wire.x,
                authorization_details: wire.d,
                key_version: wire.v,
            },
            credential_epoch: wire.e,
            issued_at: wire.b,
            expires_at: wire.z,
        })
    }
}

/// What is known when a code is presented. Checks that live elsewhere come as their results.
pub struct CodeFacts<'a> {
    /// The unsealed code.
    pub code: &'a CodePayload,
    /// The authenticated client.
    pub client: &'a Client,
    /// The code's user; `None` when no longer there.
    pub user: Option<&'a User>,
    /// The realm's resources.
    pub resources: &'a [Resource],
    /// The realm's issuer.
    pub issuer: &'a str,
    /// The verifier against the challenge.
    pub pkce: Result<(), Refusal>,
    /// The request's key against the one the code is bound to (RFC 9449 section 10); `Ok` while unbound.
    pub key: Result<(), Refusal>,
    /// The answer of [`crate::protocol::may_receive::may_receive`].
    pub may_receive: Result<(), Refusal>,
    /// The request's one moment.
    pub now: Timestamp,
}

/// What the token request says beyond the code and the verifier.
#[derive(Debug, Clone, Copy, Default)]
pub struct CodeRequest<'a> {
    /// `redirect_uri`.
    pub redirect_uri: Option<&'a str>,
    /// `resource`, any number of times.
    pub resource: &'a [&'a str],
}

/// What a presentation amounts to, and what it does to the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeOutcome {
    /// Would succeed: redeem it. If the store then says `Replayed`, the grant it made ends.
    Redeem(Box<Entitlement>),
    /// The right party in every respect, but too late. Not redeemable; if it had been redeemed, this is
    /// a replay and the grant it made ends all the same.
    Late(Refusal),
    /// The right party, refused for another reason. Burns nothing.
    Refused(Refusal),
    /// A party that could not have used it. Burns nothing, is audited.
    Misused(Refusal),
}

/// Decides on a presented code.
#[must_use]
pub fn decide_code(facts: CodeFacts<'_>, request: &CodeRequest<'_>) -> CodeOutcome {
    if let Err(refusal) = check_party(&facts, request) {
        return CodeOutcome::Misused(refusal);
    }
    if !facts.client.has_grant(GrantType::AuthorizationCode) {
        return CodeOutcome::Refused(Refusal::new(
            OauthCode::UnauthorizedClient,
            "grant_type_not_registered",
            "this client is not registered for authorization_code",
        ));
    }
    if facts.now >= facts.code.expires_at || facts.code.issued_at > facts.now.plus(MAX_AHEAD) {
        return CodeOutcome::Late(Refusal::new(
            OauthCode::InvalidGrant,
            "code_expired",
            "the code has expired: start the sign-in again",
        ));
    }
    match entitle(facts, request) {
        Ok(entitlement) => CodeOutcome::Redeem(Box::new(entitlement)),
        Err(refusal) => CodeOutcome::Refused(refusal),
    }
}

/// Clocks of two nodes may differ by this much (behaviour case B-55).
const MAX_AHEAD: std::time::Duration = std::time::Duration::from_secs(10);

/// Client, redirect URI, verifier, key: who could not have used the code.
fn check_party(facts: &CodeFacts<'_>, request: &CodeRequest<'_>) -> Result<(), Refusal> {
    if facts.code.client != facts.client.key {
        return Err(Refusal::new(
            OauthCode::InvalidGrant,
            "code_of_other_client",
            "the code is not valid for this client",
        ));
    }
    if request.redirect_uri != Some(facts.code.redirect_uri.as_str()) {
        return Err(Refusal::new(
            OauthCode::InvalidGrant,
            "code_redirect_uri",
            "redirect_uri must be the one of the authorization request (RFC 6749 section 4.1.3)",
        ));
    }
    facts.pkce.clone()?;
    facts.key.clone()
}

fn entitle(facts: CodeFacts<'_>, request: &CodeRequest<'_>) -> Result<Entitlement, Refusal> {
    facts.may_receive?;
    let (code, client, terms) = (facts.code, facts.client, &facts.code.terms);
    let user = facts.user.filter(|user| user.id == code.user).ok_or_else(|| {
        Refusal::new(OauthCode::InvalidGrant, "user_gone", "the grant is no longer valid: sign in again")
    })?;
    let resources = narrow(request.resource, &terms.resources)?;
    let scope = terms.scope.iter().filter(|token| has(&client.metadata.scope, token)).cloned().collect();
    let target = fit(request.resource, resources, scope, facts.resources, facts.issuer);
    let right = OfPerson { user, client, terms, session: code.session, target };
    let entitlement = right.entitlement(client.has_grant(GrantType::RefreshToken));
    Ok(Entitlement { nonce: terms.nonce.clone(), ..entitlement })
}

#[cfg(test)]
mod tests;
