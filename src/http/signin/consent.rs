//! `/consent`: what an application gets, in words, with a real No.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::{Lookup, Pending, Provenance, SELECT_ACCOUNT, address, begin_again, decide, go, here, pending, provenance};
use crate::domain::model::resource::Resource;
use crate::domain::model::scope::Scope;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::signin::next_step::Step;
use crate::http::extract::call::Call;
use crate::http::page::text::Language;
use crate::http::page::{ConsentPage, ScopeLine, Unchecked};
use crate::http::render::{page, redirect, target};
use crate::http::{answer, begin};
use crate::service::Error;
use crate::service::signin::consent;
use crate::service::signin::flow;
use crate::service::signin::form::{self, Binding};
use crate::service::signin::select_account::{self as selection, Here};

/// Answers `GET`.
///
/// # Errors
/// When facts cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let handle = call.page_param("flow");
    let mut pending = match pending(&call, handle.as_deref()).await? {
        Lookup::Pending(pending) => pending,
        Lookup::Restart { query } => return begin::begin(&call, &query).await,
        Lookup::Page(response) => return Ok(response),
    };
    let here = here(&call, &pending.client, &pending.flow).await?;
    show(&call, &mut pending, &here, StatusCode::OK).await
}

/// Answers `POST`.
///
/// # Errors
/// When facts cannot be read.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let field = |name| form.one(name).ok().flatten().unwrap_or("").to_owned();
    let came_from = provenance(&call);
    let mut pending = match pending(&call, Some(&field("flow"))).await? {
        Lookup::Pending(pending) => pending,
        Lookup::Restart { query } => return begin_again(&call, &query, came_from).await,
        Lookup::Page(response) => return Ok(response),
    };
    let here = here(&call, &pending.client, &pending.flow).await?;
    let binding = Binding {
        form: "consent",
        browser: pending.browser,
        flow: Some(pending.handle),
        signed_in: here.account.as_ref(),
    };
    let genuine = came_from == Provenance::Ours && form::check(&call.app, &call.ctx, binding, Some(&field("csrf")));
    let Some(person) = here.account.as_ref().filter(|_| genuine) else {
        return show(&call, &mut pending, &here, came_from.refusal()).await;
    };
    match field("action").as_str() {
        "allow" => {
            consent::allow(&call.app, &call.ctx, &pending.client, person, &pending.flow.request).await?;
            pending.flow.consented = true;
            go(&call, &mut pending, &here).await
        }
        "switch" => {
            selection::reopen(&mut pending.flow);
            flow::save(&call.app, &call.ctx, pending.browser, pending.handle, &pending.flow).await?;
            Ok(redirect::see_other(&address(&call, SELECT_ACCOUNT, pending.handle)))
        }
        _ => {
            consent::deny(&call.app, &call.ctx, &pending.client, person).await?;
            let refusal = Refusal::new(OauthCode::AccessDenied, "consent_denied", "the person did not allow it");
            Ok(answer::refusal(&call, pending.asked(&here.accounts), &refusal))
        }
    }
}

async fn show(call: &Call, pending: &mut Pending, here: &Here, status: StatusCode) -> Result<Response<Body>, Error> {
    let step = decide(call, pending, here).await?;
    let (Step::Consent { ask, known, resources }, Some(person)) = (step, &here.account) else {
        return go(call, pending, here).await;
    };
    let request = &pending.flow.request;
    let signed_in = Some(person);
    let binding = Binding { form: "consent", browser: pending.browser, flow: Some(pending.handle), signed_in };
    let mut chrome = page::chrome(call, &request.ui_locales);
    chrome.sign_out = Some(call.ctx.site.path("/logout"));
    let wording = Wording::load(call, chrome.lang).await?;
    let target = target::csp_source(&request.redirect_uri);
    let unchecked = || Unchecked {
        since: pending.client.created_at.to_rfc3339().chars().take(10).collect(),
        on_device: !request.redirect_uri.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:")),
    };
    let consent = ConsentPage {
        unchecked: pending.client.is_self_registered().then(unchecked),
        client: page::client_header(call, &pending.client).await?,
        person: person.user.user.username.clone(),
        action: call.ctx.site.path("/consent"),
        csrf: form::token(&call.app, &call.ctx, binding),
        flow: pending.handle.to_text(&call.app, &call.ctx),
        offline: ask.iter().any(|scope| scope == "offline_access"),
        scopes: wording.scopes(&ask).chain(wording.resources(&resources)).collect(),
        known: wording.scopes(&known).collect(),
        redirect_domain: target::host(&request.redirect_uri),
        manage_href: None,
        chrome,
    };
    Ok(page::html(call, status, &consent, &[&target]))
}

/// The words for what is asked, in the person's language.
struct Wording {
    language: Language,
    /// The realm's language, where there are no words in the person's.
    fallback: String,
    scopes: Arc<Vec<Scope>>,
    resources: Arc<Vec<Resource>>,
}

impl Wording {
    async fn load(call: &Call, language: Language) -> Result<Self, Error> {
        let (models, realm) = (call.app.store.models(), &call.ctx.realm);
        let (scopes, resources) = (models.scopes(realm.id).await?, models.resources(realm.id).await?);
        Ok(Self { language, fallback: realm.settings.locales.default.clone(), scopes, resources })
    }

    fn scopes<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = ScopeLine> + 'a {
        names.iter().map(|name| {
            let own = self.scopes.iter().find(|scope| scope.name == *name);
            ScopeLine::of(self.language, &self.fallback, name, own.map(|scope| &scope.terms))
        })
    }

    fn resources<'a>(&'a self, identifiers: &'a [String]) -> impl Iterator<Item = ScopeLine> + 'a {
        identifiers.iter().map(|identifier| {
            let known = self.resources.iter().find(|resource| resource.identifier == *identifier);
            let title = known.and_then(|resource| resource.display_name.as_deref());
            ScopeLine::resource(self.language, identifier, title)
        })
    }
}
