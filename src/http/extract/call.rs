//! One request on its way to its endpoint: everything that an endpoint may look at.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use http::header::{HeaderMap, HeaderName};
use http::request::Parts;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

use super::body::{self, BodyFault, Media};
use crate::context::Ctx;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::http::cookies::Cookie;
use crate::service::{App, Error};

/// What a query may hold besides letters and digits (RFC 3986 section 3.4), `%` included: it is encoded
/// already.
const IN_QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Form-encoded bytes as the query of an address.
#[must_use]
pub fn as_query(form: &[u8]) -> String {
    percent_encode(form, IN_QUERY).to_string()
}

/// A request with its circumstances. The body is read at most once, within the row's limit.
pub struct Call {
    /// The handles.
    pub app: Arc<App>,
    /// The circumstances.
    pub ctx: Ctx,
    /// Method, address (below the issuer), headers.
    pub head: Parts,
    body: tokio::sync::Mutex<Option<Body>>,
    limit: usize,
}

impl Call {
    /// Wraps a request whose body may have `limit` bytes.
    #[must_use]
    pub fn new(app: Arc<App>, ctx: Ctx, head: Parts, body: Body, limit: usize) -> Self {
        Self { app, ctx, head, body: tokio::sync::Mutex::new(Some(body)), limit }
    }

    /// The path below the issuer.
    #[must_use]
    pub fn path(&self) -> &str {
        self.head.uri.path()
    }

    /// The raw query, empty when there is none.
    #[must_use]
    pub fn raw_query(&self) -> &str {
        self.head.uri.query().unwrap_or("")
    }

    /// The query, read strictly: decoded once, limits held.
    ///
    /// # Errors
    /// A refusal that names what cannot be read.
    pub fn query(&self) -> Result<Params, Refusal> {
        Ok(Params::parse(self.raw_query().as_bytes())?)
    }

    /// A parameter of our own pages' addresses; anything unreadable or repeated counts as absent.
    #[must_use]
    pub fn page_param(&self, name: &str) -> Option<String> {
        self.query().ok()?.one(name).ok()?.map(str::to_owned)
    }

    /// The form in the body. An empty body without a content type is an empty form (B-22).
    ///
    /// # Errors
    /// Another content type, a body over the limit, or text that cannot be read.
    pub async fn form(&self) -> Result<Params, Error> {
        Ok(Params::parse_up_to(self.limit, &self.raw_form().await?)?)
    }

    /// The form's bytes as they came.
    ///
    /// # Errors
    /// Another content type, or a body over the limit.
    pub async fn raw_form(&self) -> Result<Bytes, Error> {
        let wrong = "send the parameters as application/x-www-form-urlencoded";
        self.bytes(Media::Form, Refusal::new(OauthCode::InvalidRequest, "content_type", wrong)).await
    }

    /// The bytes of a JSON document; `wrong` refuses another content type.
    ///
    /// # Errors
    /// Another content type, or a body over the limit.
    pub async fn json(&self, wrong: Refusal) -> Result<Bytes, Error> {
        self.bytes(Media::Json, wrong).await
    }

    async fn bytes(&self, media: Media, wrong: Refusal) -> Result<Bytes, Error> {
        let body = self.body.lock().await.take().unwrap_or_default();
        match body::read(&self.head.headers, body, media, self.limit).await {
            Ok(bytes) => Ok(bytes),
            Err(BodyFault::TooLarge) => Err(Error::TooLarge { limit: self.limit }),
            Err(BodyFault::ContentType) => Err(wrong.into()),
            Err(BodyFault::Broken) => {
                Err(Error::refused(OauthCode::InvalidRequest, "body_broken", "the body could not be read"))
            }
        }
    }

    /// The form as the query of an address: bytes that an address cannot hold are percent-encoded, so
    /// that it reads there exactly as it would have been read here.
    ///
    /// # Errors
    /// As [`Self::form`].
    pub async fn form_as_query(&self) -> Result<String, Error> {
        let body = self.raw_form().await?;
        // What cannot be read at all is refused before it goes anywhere.
        Params::parse(&body)?;
        Ok(as_query(&body))
    }

    /// The headers.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// A header as text; `None` when absent or not ASCII.
    #[must_use]
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }

    /// One of our cookies.
    #[must_use]
    pub fn cookie(&self, cookie: Cookie) -> Option<String> {
        cookie.read(&self.ctx.site, &self.head.headers)
    }
}
