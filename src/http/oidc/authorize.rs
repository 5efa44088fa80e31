//! `/authorize` (RFC 6749 section 3.1, OpenID Connect Core 3.1.2): by GET, and by POST from anywhere.
//! A POST reads and sets no cookie; it keeps the request and sends the browser to a GET, since a
//! SameSite cookie does not come along with it.

use std::sync::Arc;

use axum::body::Body;
use http::Response;
use http::header::HeaderValue;

use super::answer;
use crate::domain::protocol::authorize::table::Outcome;
use crate::domain::protocol::params::Params;
use crate::domain::signin::next_step::Step;
use crate::http::extract::call::Call;
use crate::http::render::{page, redirect};
use crate::http::signin::{self, Pending, address, browser_or_new, set_cookie};
use crate::service::Error;
use crate::service::authorize::{issue, start};
use crate::service::signin::engine::{self, Standing};
use crate::service::signin::flow::{self, Flow};

/// Answers `GET`.
///
/// # Errors
/// When facts cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    begin(&call, call.raw_query()).await
}

/// Answers `POST`.
///
/// # Errors
/// When the request cannot be kept.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let body = call.raw_form().await?;
    // Read once here, so that what cannot be read at all is refused before it is stored.
    Params::parse(&body)?;
    let query = String::from_utf8_lossy(&body);
    let handle = start::hand_over(&call.app, &call.ctx, &query).await?;
    Ok(redirect::see_other(&format!("{}?request={handle}", call.ctx.site.path("/login/start"))))
}

/// Begins a request from its query: answers it at once where nobody needs to be asked, else keeps it
/// and goes to the first page.
///
/// # Errors
/// When facts cannot be read.
pub async fn begin(call: &Call, query: &str) -> Result<Response<Body>, Error> {
    let (request, client) = match check(call, query).await? {
        Checked::Request(request, client) => (request, client),
        Checked::Answered(response) => return Ok(response),
    };
    let signed_in = signin::signed_in(call).await?;
    let (browser, cookie) = browser_or_new(call);
    let mut flow = Flow {
        owner: browser.owner(),
        request,
        client: client.key,
        query: query.to_owned(),
        started_at: call.ctx.now,
        fresh: None,
        consented: false,
    };
    let standing = Standing { client: &client, flow: &flow, signed_in: signed_in.as_ref() };
    let step = engine::decide(&call.app, &call.ctx, &standing).await?;
    let page = match (step, &signed_in) {
        (Step::Issue { scope }, Some(signed_in)) => {
            let facts = issue::Facts { client: &client, request: &flow.request, signed_in, scope };
            let code = issue::code(&call.app, &call.ctx, facts).await?;
            return Ok(answer::success(call, &flow.request, &client, &code));
        }
        (Step::Refuse(refusal), _) => return Ok(answer::refusal(call, &flow.request, &client, &refusal)),
        (Step::Consent { .. }, Some(_)) => "/consent",
        (Step::Password { .. } | Step::Issue { .. } | Step::Consent { .. }, _) => "/login",
    };
    flow.started_at = call.ctx.now;
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
    let (request, client) = match check(call, query).await? {
        Checked::Request(request, client) => (request, client),
        Checked::Answered(response) => return Ok(Kept::Answered(response)),
    };
    let (browser, cookie) = browser_or_new(call);
    let flow = Flow {
        owner: browser.owner(),
        request,
        client: client.key,
        query: query.to_owned(),
        started_at: call.ctx.now,
        fresh: None,
        consented: false,
    };
    let handle = flow::create(&call.app, &call.ctx, browser, &flow).await?;
    Ok(Kept::Pending { pending: Box::new(Pending { browser, handle, flow, client }), cookie })
}

enum Checked {
    Request(
        crate::domain::protocol::authorize::request::AuthorizeRequest,
        Arc<crate::domain::model::client::Client>,
    ),
    Answered(Response<Body>),
}

async fn check(call: &Call, query: &str) -> Result<Checked, Error> {
    let params = Params::parse(query.as_bytes())?;
    let (outcome, client) = start::check(&call.app, &call.ctx, &params).await?;
    Ok(match (outcome, client) {
        (Outcome::Request(request), Some(client)) => Checked::Request(*request, client),
        (Outcome::Request(_), None) => return Err(Error::Internal("a request without a client passed its checks".to_owned())),
        (Outcome::Page(refusal), _) => Checked::Answered(page::refused(call, &refusal)),
        (Outcome::Redirect(error), client) => {
            let title = client.as_ref().map_or("", |client| client.title()).to_owned();
            Checked::Answered(answer::error(call, &error, &title))
        }
    })
}
