//! Pending authorization requests ("flows"). Each lives under its own id in the short-lived store, so
//! that tabs do not know of each other; the browser cookie only proves the browser (B-38, B-39). The
//! record is a tower-sessions one: `create` inserts and draws again on a collision, `save` changes
//! only what exists, `delete` is final, so a flow that logout removed never comes back.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use time::OffsetDateTime;
use tower_sessions::SessionStore;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store;

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::ids::{ClientKey, RealmId, SessionId};
use crate::domain::model::span::Span;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::domain::signin::select_account::Choice;
use crate::entropy;
use crate::seal::Purpose;
use crate::service::session::cookie_text::{self, BrowserCookie};
use crate::service::{App, Error};
use crate::store::Store;
use crate::store::shortlived::{Kind, Owner, Put, Update, Versioned};

/// How long a pending sign-in waits: coming back after lunch, or tomorrow, still works.
pub const FLOW_LIFE: Span = Span::hours(24);
/// Pending sign-ins per browser; the oldest go first.
const FLOWS_PER_BROWSER: u32 = 60;
/// The key of our value inside a record.
const KEY: &str = "flow";

/// A pending authorization request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Flow {
    /// The browser that began it.
    pub owner: [u8; 32],
    /// The checked request.
    pub request: AuthorizeRequest,
    /// The client that asked.
    pub client: ClientKey,
    /// The request as it came, to begin again.
    pub query: String,
    /// When it came.
    pub started_at: Timestamp,
    /// The sign-in that was made for this flow and no other; spent when the flow is answered.
    pub fresh: Option<Fresh>,
    /// What the person just allowed, until the flow is answered.
    pub consented: bool,
    /// Which of the browser's accounts it is for, once the person has said so.
    #[serde(default)]
    pub choice: Choice,
}

impl Flow {
    /// A request that has just come, in which nothing happened yet.
    #[must_use]
    pub fn begun(ctx: &Ctx, browser: BrowserCookie, client: &Client, request: AuthorizeRequest, query: &str) -> Self {
        Self {
            owner: browser.owner(),
            request,
            client: client.key,
            query: query.to_owned(),
            started_at: ctx.now,
            fresh: None,
            consented: false,
            choice: Choice::Open,
        }
    }
}

/// A sign-in made inside a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fresh {
    /// The session it opened or stepped up.
    pub session: SessionId,
    /// When.
    pub auth_time: Timestamp,
}

/// The handle of a flow. In our pages' addresses and forms it stands with a tag that is checked before
/// anything is looked up (`security-design` rule 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowHandle(pub Id);

impl FlowHandle {
    /// Reads a genuine handle.
    #[must_use]
    pub fn from_text(app: &App, ctx: &Ctx, text: &str) -> Option<Self> {
        let id = cookie_text::read(&app.sealer, ctx.realm.id, Purpose::Hop, text)?;
        Some(Self(Id(i128::from_be_bytes(id))))
    }

    /// The written form.
    #[must_use]
    pub fn to_text(self, app: &App, ctx: &Ctx) -> String {
        cookie_text::write(&app.sealer, ctx.realm.id, Purpose::Hop, &[&self.0.0.to_be_bytes()])
    }
}

/// Keeps a new flow for `browser`.
///
/// # Errors
/// When the store cannot do it.
pub async fn create(app: &App, ctx: &Ctx, browser: BrowserCookie, flow: &Flow) -> Result<FlowHandle, Error> {
    let id = Id(i128::from_be_bytes(entropy::bytes(&*app.entropy, "flow")));
    let mut record = record(id, flow, ctx.now)?;
    records(app, ctx, browser).create(&mut record).await.map_err(fault)?;
    Ok(FlowHandle(record.id))
}

/// What a handle names.
pub enum Found {
    /// A flow that this browser began.
    Own(Box<Flow>),
    /// A flow of another browser, or of this one before it lost its cookie: only the request may be
    /// begun again from it.
    Foreign {
        /// The request as it came.
        query: String,
    },
    /// Nothing: too old, pushed out, or never there.
    Gone,
}

/// Finds a flow.
///
/// # Errors
/// When the store cannot do it.
pub async fn find(app: &App, ctx: &Ctx, browser: Option<BrowserCookie>, handle: FlowHandle) -> Result<Found, Error> {
    let browser_id = browser.map(|browser| browser.owner());
    let records = records(app, ctx, browser.unwrap_or(BrowserCookie([0; 16])));
    let Some(record) = records.load(&handle.0).await.map_err(fault)? else { return Ok(Found::Gone) };
    let Some(value) = record.data.get(KEY).cloned() else { return Ok(Found::Gone) };
    let flow: Flow =
        serde_json::from_value(value).map_err(|error| Error::Internal(format!("a flow cannot be read: {error}")))?;
    let own = browser_id.is_some_and(|id| id.ct_eq(&flow.owner).into());
    Ok(if own { Found::Own(Box::new(flow)) } else { Found::Foreign { query: flow.query } })
}

/// Keeps what a step changed.
///
/// # Errors
/// When the store cannot do it.
pub async fn save(app: &App, ctx: &Ctx, browser: BrowserCookie, handle: FlowHandle, flow: &Flow) -> Result<(), Error> {
    records(app, ctx, browser).save(&record(handle.0, flow, ctx.now)?).await.map_err(fault)
}

fn record(id: Id, flow: &Flow, now: Timestamp) -> Result<Record, Error> {
    let value =
        serde_json::to_value(flow).map_err(|error| Error::Internal(format!("a flow cannot be kept: {error}")))?;
    let expiry_date = OffsetDateTime::from_unix_timestamp(now.plus(FLOW_LIFE.get()).as_secs())
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Record { id, data: [(KEY.to_owned(), value)].into(), expiry_date })
}

fn fault(error: session_store::Error) -> Error {
    match error {
        session_store::Error::Backend(source) => Error::Unavailable { dependency: "database", source },
        other => Error::Internal(other.to_string()),
    }
}

/// One browser's records in the short-lived store.
struct Records {
    store: Store,
    realm: RealmId,
    owner: [u8; 32],
    now: Timestamp,
}

fn records(app: &App, ctx: &Ctx, browser: BrowserCookie) -> Records {
    Records { store: app.store.clone(), realm: ctx.realm.id, owner: browser.owner(), now: ctx.now }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("realm", &self.realm).finish_non_exhaustive()
    }
}

impl Records {
    fn key(id: &Id) -> [u8; 16] {
        id.0.to_be_bytes()
    }

    fn expires(record: &Record) -> Timestamp {
        Timestamp::from_secs(record.expiry_date.unix_timestamp())
    }
}

fn backend(error: impl fmt::Display) -> session_store::Error {
    session_store::Error::Backend(error.to_string())
}

#[async_trait]
impl SessionStore for Records {
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        for _ in 0..3 {
            let value = encode(record)?;
            let put = Put {
                realm: self.realm,
                kind: Kind::Flow,
                key: &Self::key(&record.id),
                value: &value,
                owner: Some(Owner { id: &self.owner, cap: FLOWS_PER_BROWSER }),
                expires_at: Self::expires(record),
                now: self.now,
            };
            if self.store.shortlived().put(put).await.map_err(backend)? {
                return Ok(());
            }
            record.id = Id(record.id.0.wrapping_add(1));
        }
        Err(backend("no free id for a flow"))
    }

    async fn save(&self, record: &Record) -> session_store::Result<()> {
        let shortlived = self.store.shortlived();
        let key = Self::key(&record.id);
        let found = shortlived.get_versioned(self.realm, Kind::Flow, &key, self.now).await.map_err(backend)?;
        let Some(Versioned { version, .. }) = found else { return Ok(()) };
        let update = Update {
            realm: self.realm,
            kind: Kind::Flow,
            key: &key,
            version,
            value: &encode(record)?,
            expires_at: Self::expires(record),
            now: self.now,
        };
        shortlived.update_if(update).await.map_err(backend)?;
        Ok(())
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let found = self.store.shortlived().get(self.realm, Kind::Flow, &Self::key(id), self.now).await;
        match found.map_err(backend)? {
            Some(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| session_store::Error::Decode(error.to_string())),
            None => Ok(None),
        }
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        self.store.shortlived().delete(self.realm, Kind::Flow, &Self::key(id)).await.map_err(backend)
    }
}

fn encode(record: &Record) -> session_store::Result<Vec<u8>> {
    serde_json::to_vec(record).map_err(|error| session_store::Error::Encode(error.to_string()))
}
