//! The only place tokens are made. What they may say was decided before.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::answer::TokenAnswer;
use super::facts;
use crate::context::Ctx;
use crate::domain::model::client::{AccessTokenFormat, Client, GrantType};
use crate::domain::model::ids::{GrantId, RealmId, SessionId, TokenId};
use crate::domain::model::key::Algorithm;
use crate::domain::model::realm::Realm;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::access_token::{self, AccessTokenClaims, AccessTokenFacts};
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::domain::protocol::authorize::response::{Given, GivenAccessToken};
use crate::domain::protocol::backchannel_logout::{self, LogoutTokenClaims, LogoutTokenFacts};
use crate::domain::protocol::claims::{ClaimFacts, UserinfoClaims};
use crate::domain::protocol::id_token::{self, IdTokenClaims, IdTokenFacts};
use crate::domain::protocol::jwt::JwsHeader;
use crate::domain::protocol::opaque_token::{self, OpaquePayload};
use crate::domain::protocol::requested_claims;
use crate::domain::protocol::scope::{GROUPS, ROLES};
use crate::domain::protocol::token::{Entitlement, Subject, implicit};
use crate::observe::metrics::metrics;
use crate::seal::Purpose;
use crate::service::{App, Error, subject};
use crate::store::readmodel::UserFacts;

/// Tokens of one answer.
pub struct Minted {
    access_token: String,
    id_token: Option<String>,
    expires_in: u64,
    scope: String,
}

impl Minted {
    /// The answer with them.
    #[must_use]
    pub fn answer(self, refresh_token: Option<String>) -> TokenAnswer {
        TokenAnswer {
            access_token: self.access_token,
            token_type: "Bearer",
            expires_in: self.expires_in,
            refresh_token,
            id_token: self.id_token,
            scope: self.scope,
        }
    }
}

/// What is to be made.
pub struct Order<'a> {
    /// For whom.
    pub client: &'a Client,
    /// What the tokens may say.
    pub entitlement: &'a Entitlement,
    /// The grant type that was asked.
    pub grant_type: GrantType,
    /// The grant they hang on; `None` for a client's own.
    pub grant: Option<GrantId>,
    /// The person they are about.
    pub person: Option<&'a UserFacts>,
}

/// Makes what the entitlement says, and counts it.
///
/// # Errors
/// When there is no key to sign with, or it cannot sign.
pub async fn tokens(app: &App, ctx: &Ctx, order: &Order<'_>) -> Result<Minted, Error> {
    let Order { client, entitlement, grant_type, .. } = *order;
    let sub = sub(app, ctx, order).await?;
    let access_token = access_token(app, ctx, order, &sub).await?;
    let id_token = if entitlement.issue_id_token {
        let beside = Beside { access_token: Some(&access_token), ..Beside::default() };
        Some(id_token(app, ctx, order, (&sub, beside)).await?)
    } else {
        None
    };
    metrics().issued(grant_type, client.metadata.access_token_format, entitlement.cnf.is_some());
    Ok(Minted {
        access_token,
        id_token,
        expires_in: ctx.realm.settings.tokens.access.as_secs(),
        scope: entitlement.scope.join(" "),
    })
}

/// Makes what a response of the authorization endpoint holds beside its code (OpenID Connect Core 3.2.2.5 and
/// 3.3.2.5).
///
/// # Errors
/// When there is no key to sign with, or it cannot sign.
pub async fn front_channel(
    app: &App,
    ctx: &Ctx,
    order: &Order<'_>,
    (asked, code): (&AuthorizeRequest, Option<String>),
) -> Result<Given, Error> {
    let Order { client, entitlement, grant_type, .. } = *order;
    let sub = sub(app, ctx, order).await?;
    let access_token =
        if asked.response_type.has_token() { Some(access_token(app, ctx, order, &sub).await?) } else { None };
    let id_token = if entitlement.issue_id_token {
        let beside = Beside {
            access_token: access_token.as_deref(),
            code: code.as_deref(),
            has_scope_claims: implicit::has_scope_claims(asked.response_type),
        };
        Some(id_token(app, ctx, order, (&sub, beside)).await?)
    } else {
        None
    };
    metrics().issued(grant_type, client.metadata.access_token_format, entitlement.cnf.is_some());
    let differs = asked.scope_differs || asked.scope != entitlement.scope;
    let access_token = access_token.map(|text| GivenAccessToken {
        text,
        expires_in: ctx.realm.settings.tokens.access.as_secs(),
        scope: differs.then(|| entitlement.scope.join(" ")),
    });
    Ok(Given { code, access_token, id_token })
}

async fn access_token(app: &App, ctx: &Ctx, order: &Order<'_>, sub: &str) -> Result<String, Error> {
    let Order { client, entitlement, grant, person, .. } = *order;
    let settings = &ctx.realm.settings;
    let service_roles = facts::service_roles(app, client, person, &entitlement.scope).await?;
    let has = |scope: &str| entitlement.scope.iter().any(|own| own == scope);
    let facts = AccessTokenFacts {
        issuer: &ctx.site.issuer,
        entitlement,
        sub,
        jti: TokenId::from_uuid(app.entropy.uuid("jti", ctx.now)),
        grant,
        client: client.key,
        now: ctx.now,
        lifetime: settings.tokens.access.get(),
        roles: match person {
            Some(person) => has(ROLES).then_some(person.effective.roles.as_slice()),
            None => service_roles.as_deref().map(Vec::as_slice),
        },
        groups: person.filter(|_| has(GROUPS)).map(|person| person.effective.groups.as_slice()),
    };
    Ok(match client.metadata.access_token_format {
        AccessTokenFormat::Jwt => {
            let payload = &AccessTokenClaims::new(&facts).to_bytes();
            let token = Unsigned { alg: settings.keys.access_token_alg, typ: access_token::TYP, payload };
            signed(app, ctx.realm.id, token, ctx.now).await?
        }
        AccessTokenFormat::Opaque => {
            let payload = OpaquePayload::new(&facts).to_bytes();
            let sealed = app.sealer.seal(ctx.realm.id, Purpose::AccessToken, &payload, b"");
            opaque_token::to_text(&sealed)
        }
    })
}

/// What stands beside an ID token in its answer, and what it says of the person.
#[derive(Default)]
struct Beside<'a> {
    access_token: Option<&'a str>,
    code: Option<&'a str>,
    has_scope_claims: bool,
}

async fn id_token(app: &App, ctx: &Ctx, order: &Order<'_>, (sub, beside): (&str, Beside<'_>)) -> Result<String, Error> {
    let alg = id_token_alg(&ctx.realm, order.client);
    let person = person_claims(order, sub, &beside);
    let facts = IdTokenFacts {
        issuer: &ctx.site.issuer,
        entitlement: order.entitlement,
        sub,
        access_token: beside.access_token,
        code: beside.code,
        person: person.as_ref(),
        alg,
        now: ctx.now,
        lifetime: ctx.realm.settings.tokens.id_token.get(),
    };
    let payload = &IdTokenClaims::new(&facts).to_bytes();
    signed(app, ctx.realm.id, Unsigned { alg, typ: id_token::TYP, payload }, ctx.now).await
}

/// What the ID token says of the person: what was asked for by name, and what the scopes ask for where nothing
/// comes that leads to userinfo; `None` as a rule.
fn person_claims(order: &Order<'_>, sub: &str, beside: &Beside<'_>) -> Option<Map<String, Value>> {
    let entitlement = order.entitlement;
    let person = order.person.filter(|_| entitlement.claims.is_some() || beside.has_scope_claims)?;
    let facts =
        ClaimFacts { sub, user: &person.user, roles: &person.effective.roles, groups: &person.effective.groups };
    let names = entitlement.requested_claims().id_token;
    let mut claims = requested_claims::deliver(&facts, &names, &order.client.metadata.scope);
    if beside.has_scope_claims {
        claims.extend(UserinfoClaims::new(&facts, &entitlement.scope).beside_sub());
    }
    Some(claims)
}

/// Of whom the tokens speak, as their client knows her.
async fn sub<'a>(app: &App, ctx: &Ctx, order: &Order<'a>) -> Result<Cow<'a, str>, Error> {
    match (&order.entitlement.subject, order.person) {
        (Subject::Client, _) => Ok(Cow::Borrowed(&order.entitlement.client_id)),
        (Subject::Person { .. }, Some(person)) => {
            subject::seen_by(app, &ctx.realm, order.client, &person.user.sub).await
        }
        (Subject::Person { .. }, None) => Err(Error::Internal("tokens about nobody".to_owned())),
    }
}

/// A logout token to be made.
pub struct LogoutOrder<'a> {
    /// In which realm.
    pub realm: &'a Realm,
    /// The realm's issuer.
    pub issuer: &'a str,
    /// For whom.
    pub client: &'a Client,
    /// The person, as this client's ID tokens name her.
    pub sub: &'a str,
    /// The session that ended.
    pub sid: SessionId,
    /// The moment of the attempt.
    pub now: Timestamp,
}

/// Makes a logout token, signed as the client's ID tokens are (Back-Channel Logout 1.0 section 2.4).
///
/// # Errors
/// When there is no key to sign with, or it cannot sign.
pub async fn logout_token(app: &App, order: &LogoutOrder<'_>) -> Result<String, Error> {
    let alg = id_token_alg(order.realm, order.client);
    let claims = LogoutTokenClaims::new(&LogoutTokenFacts {
        issuer: order.issuer,
        client_id: &order.client.client_id,
        sub: order.sub,
        sid: order.sid,
        jti: TokenId::from_uuid(app.entropy.uuid("jti", order.now)),
        now: order.now,
    });
    let token = Unsigned { alg, typ: backchannel_logout::TYP, payload: &claims.to_bytes() };
    signed(app, order.realm.id, token, order.now).await
}

/// The algorithm of this client's ID tokens: its own wish, else the realm's.
fn id_token_alg(realm: &Realm, client: &Client) -> Algorithm {
    client.metadata.id_token_signed_response_alg.unwrap_or(realm.settings.keys.id_token_alg)
}

/// What is signed.
pub struct Unsigned<'a> {
    /// With the realm's key for this algorithm.
    pub alg: Algorithm,
    /// The header's `typ`.
    pub typ: &'a str,
    /// The claims, decided elsewhere.
    pub payload: &'a [u8],
}

/// Signs with a key of the realm.
///
/// # Errors
/// When there is no key to sign with, or it cannot sign.
pub async fn signed(app: &App, realm: RealmId, token: Unsigned<'_>, now: Timestamp) -> Result<String, Error> {
    let signer = app.keys.signer(realm, token.alg, now).await?;
    let mut text = JwsHeader::encode(signer.alg(), signer.kid(), token.typ);
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(token.payload, &mut text);
    let signature = signer.sign(text.as_bytes())?;
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut text);
    Ok(text)
}
