//! What the authorization endpoint gives. An authorization code is everything that the grant will fix, sealed.
//! Issuing one writes nothing, unless the request is so large that the code would make too long an address; then
//! the sealed payload waits in the short-lived store and the code is its handle. Whatever else was asked for is
//! a grant of its own.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::context::Ctx;
use crate::domain::model::client::{Client, GrantType};
use crate::domain::model::grant::GrantTerms;
use crate::domain::model::ids::CodeId;
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::domain::protocol::authorize::response::Given;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::protocol::token::authorization_code::CodePayload;
use crate::entropy;
use crate::seal::Purpose;
use crate::service::session::bind::SignedIn;
use crate::service::token::implicit::{self, Act};
use crate::service::{App, Error};
use crate::store::shortlived::{Kind, Put};

/// Longer codes become handles.
const LONGEST: usize = 600;
/// How long the payload behind a handle is kept: a replay must still be recognised after the code's end.
const KEPT: Duration = Duration::from_secs(600);

/// What the answer is made of.
pub struct Facts<'a> {
    /// For whom.
    pub client: &'a Client,
    /// The checked request.
    pub request: &'a AuthorizeRequest,
    /// On whose behalf.
    pub signed_in: &'a SignedIn,
    /// What was granted.
    pub scope: Vec<String>,
}

/// Makes what the response type names; or says that the right to it has ended a moment ago.
///
/// # Errors
/// When something cannot be kept, decided or signed.
pub async fn given(app: &App, ctx: &Ctx, facts: Facts<'_>) -> Result<Result<Given, Refusal>, Error> {
    let (client, request, signed_in) = (facts.client, facts.request, facts.signed_in);
    let payload = payload(app, ctx, facts);
    let code = if request.response_type.has_code() { Some(code(app, ctx, &payload).await?) } else { None };
    if !request.response_type.is_front_channel() {
        return Ok(Ok(Given { code, ..Given::default() }));
    }
    let act = Act { client, request, signed_in, payload: &payload, code };
    Ok(implicit::grant(app, ctx, act).await?.ok_or_else(|| ended(request)))
}

/// She signed out, was disabled or changed her password while this request was under way.
fn ended(request: &AuthorizeRequest) -> Refusal {
    let code = if request.prompt.none { OauthCode::LoginRequired } else { OauthCode::AccessDenied };
    Refusal::new(code, "session_ended", "the sign-in has ended meanwhile: start again")
}

fn payload(app: &App, ctx: &Ctx, facts: Facts<'_>) -> CodePayload {
    let session = &facts.signed_in.session;
    let offline =
        facts.scope.iter().any(|scope| scope == "offline_access") && facts.client.has_grant(GrantType::RefreshToken);
    CodePayload {
        code: CodeId::from_uuid(app.entropy.uuid("code", ctx.now)),
        client: facts.client.key,
        client_id: facts.client.client_id.clone(),
        user: session.user,
        session: session.id,
        redirect_uri: facts.request.redirect_uri.clone(),
        code_challenge: facts.request.code_challenge.clone(),
        terms: GrantTerms {
            scope: facts.scope,
            offline,
            auth_time: session.auth_time,
            acr: session.acr,
            amr: session.amr.clone(),
            nonce: facts.request.nonce.clone(),
            claims: facts.request.claims.to_text(),
            resources: facts.request.resources.clone(),
            cnf: None,
            actor: None,
            authorization_details: None,
            key_version: 1,
        },
        credential_epoch: session.credential_epoch,
        issued_at: ctx.now,
        expires_at: ctx.now.plus(ctx.realm.settings.tokens.code.get()),
    }
}

async fn code(app: &App, ctx: &Ctx, payload: &CodePayload) -> Result<String, Error> {
    let sealed = app.sealer.seal(ctx.realm.id, Purpose::Code, &payload.to_bytes(), b"");
    let text = URL_SAFE_NO_PAD.encode(&sealed);
    if text.len() <= LONGEST {
        return Ok(text);
    }
    let handle: [u8; 24] = entropy::bytes(&*app.entropy, "code_handle");
    let put = Put {
        realm: ctx.realm.id,
        kind: Kind::Code,
        key: &handle,
        value: &sealed,
        owner: None,
        expires_at: ctx.now.plus(KEPT),
        now: ctx.now,
    };
    app.store.shortlived().put(put).await?;
    Ok(URL_SAFE_NO_PAD.encode(handle))
}

/// Reads a code back. `None` = not a code of ours, or one too old to be known.
///
/// # Errors
/// When a kept payload cannot be read.
pub async fn read(app: &App, ctx: &Ctx, text: &str) -> Result<Option<CodePayload>, Error> {
    if text.len() > 4096 {
        return Ok(None);
    }
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(text) else { return Ok(None) };
    let sealed = if bytes.len() == 24 {
        match app.store.shortlived().get(ctx.realm.id, Kind::Code, &bytes, ctx.now).await? {
            Some(kept) => kept,
            None => return Ok(None),
        }
    } else {
        bytes
    };
    let opened = app.sealer.open(ctx.realm.id, Purpose::Code, &sealed, b"");
    Ok(opened.and_then(|bytes| CodePayload::from_bytes(&bytes)))
}
