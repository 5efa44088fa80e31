//! An authorization request begins: checked, answered at once where nobody needs to be asked, else
//! kept for the browser while a person signs in. Shared by the endpoint, the hand-over of a POST, and
//! pages whose browser lost its cookie.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use http::Response;
use http::header::HeaderValue;

use super::answer::{self, Asked};
use super::extract::call::Call;
use super::render::{page, redirect};
use super::session_state::Seen;
use super::signin::{self, Pending, address, browser_or_new, set_cookie};
use crate::domain::model::client::Client;
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::domain::protocol::authorize::table::Outcome;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::ui_locales;
use crate::domain::signin::next_step::Step;
use crate::service::Error;
use crate::service::authorize::{issue, start};
use crate::service::signin::engine::{self, Standing};
use crate::service::signin::flow::{self, Flow};

/// Begins a request from its query: answers it at once where nobody needs to be asked, else keeps it
/// and goes to the first page.
///
/// # Errors
/// When facts cannot be read.
pub async fn begin(call: &Call, query: &str) -> Result<Response<Body>, Error> {
    let (request, client, query) = match check(call, query).await? {
        Checked::Request(request, client, query) => (request, client, query),
        Checked::Answered(response) => return Ok(response),
    };
    let (browser, cookie) = browser_or_new(call);
    let flow = Flow::begun(&call.ctx, browser, &client, *request, &query);
    let here = signin::here(call, &client, &flow).await?;
    let signed_in = here.account.as_ref();
    let standing = Standing { client: &client, flow: &flow, signed_in, choose: here.choose };
    let step = engine::decide(&call.app, &call.ctx, &standing).await?;
    let asked = Asked { request: &flow.request, client: &client, seen: Seen::Accounts(&here.accounts) };
    let page = match (step, signed_in) {
        (Step::Issue { scope }, Some(signed_in)) => {
            let facts = issue::Facts { client: &client, request: &flow.request, signed_in, scope };
            let given = issue::given(&call.app, &call.ctx, facts).await?;
            return Ok(answer::outcome(call, asked, &given));
        }
        (Step::Refuse(refusal), _) => return Ok(answer::refusal(call, asked, &refusal)),
        (step, signed_in) => signin::page_of(&step, signed_in),
    };
    let handle = flow::create(&call.app, &call.ctx, browser, &flow).await?;
    let mut response = redirect::see_other(&address(call, page, handle));
    set_cookie(&mut response, cookie);
    Ok(response)
}

/// A request that was kept for this browser, or its answer.
pub enum Kept {
    /// Kept; the cookie binds the browser.
    Pending {
        /// The pending request.
        pending: Box<Pending>,
        /// The cookie to set, when the browser had none.
        cookie: Option<HeaderValue>,
    },
    /// It could not be kept; this is the answer.
    Answered(Response<Body>),
}

/// Keeps a request without looking at who is signed in: for a browser that lost its cookie.
///
/// # Errors
/// When facts cannot be read.
pub async fn keep(call: &Call, query: &str) -> Result<Kept, Error> {
    let (request, client, query) = match check(call, query).await? {
        Checked::Request(request, client, query) => (request, client, query),
        Checked::Answered(response) => return Ok(Kept::Answered(response)),
    };
    let (browser, cookie) = browser_or_new(call);
    let flow = Flow::begun(&call.ctx, browser, &client, *request, &query);
    let handle = flow::create(&call.app, &call.ctx, browser, &flow).await?;
    Ok(Kept::Pending { pending: Box::new(Pending { browser, handle, flow, client }), cookie })
}

enum Checked<'a> {
    /// With its client, and the query with which it can begin again.
    Request(Box<AuthorizeRequest>, Arc<Client>, Cow<'a, str>),
    Answered(Response<Body>),
}

async fn check<'a>(call: &Call, query: &'a str) -> Result<Checked<'a>, Error> {
    let sent = Params::parse(query.as_bytes())?;
    let start::Checked { outcome, client, effective } = start::check(&call.app, &call.ctx, &sent).await?;
    let params = effective.as_ref().unwrap_or(&sent);
    Ok(match (outcome, client) {
        (Outcome::Request(request), Some(client)) => {
            let query = effective.as_ref().map_or(Cow::Borrowed(query), |params| Cow::Owned(params.to_query()));
            Checked::Request(request, client, query)
        }
        (Outcome::Request(_), None) => {
            return Err(Error::Internal("a request without a client passed its checks".to_owned()));
        }
        (Outcome::Page(refusal), client) => {
            Checked::Answered(page::refused_request(call, &refusal, params, client.as_deref()))
        }
        (Outcome::Redirect(error), client) => {
            if let Some(client) = client.as_ref().filter(|client| answer::stays_here(call, client))
                && signin::signed_in(call).await?.is_none()
            {
                return Ok(Checked::Answered(page::not_returned(call, client, &error.refusal)));
            }
            Checked::Answered(answer::error(call, &error, client.as_deref(), &ui_locales::of(params)))
        }
    })
}
