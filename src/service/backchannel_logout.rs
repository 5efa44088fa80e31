//! One attempt to tell a client that a session has ended (Back-Channel Logout 1.0 section 2.5). The notice
//! was queued by whoever ended the session and is claimed by the task that calls this.

use crate::context::Site;
use crate::domain::model::backchannel_logout::{Done, LogoutNotice, NoticeOutcome};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::backchannel_logout::{Verdict, judge, next_attempt};
use crate::entropy;
use crate::observe::metrics::metrics;
use crate::outbound;
use crate::service::token::mint::{self, LogoutOrder};
use crate::service::{App, Error, subject};
use crate::store::repo::{self, backchannel_logout::Settled};

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempted {
    /// The client has answered, or need not be asked again.
    Over,
    /// It is tried again later.
    Again,
    /// As before, and the client's host was not even reached or did not answer in time.
    Silent,
}

/// Tells the client, and writes down what it said.
///
/// # Errors
/// When the store cannot be read or written; the claim then runs out by itself.
pub async fn deliver(app: &App, notice: &LogoutNotice) -> Result<Attempted, Error> {
    let (verdict, failure, reached) = match send(app, notice).await? {
        Sent::Nobody(why) => return over(app, notice, NoticeOutcome::GivenUp, Some(why.to_owned())).await,
        Sent::Answer(status) => {
            let verdict = judge(status);
            (verdict, (verdict != Verdict::Done).then(|| format!("status {status}")), true)
        }
        Sent::Failed(error) => (Verdict::Again, Some(error.detail()), false),
    };
    match verdict {
        Verdict::Done => over(app, notice, NoticeOutcome::Delivered, failure).await,
        Verdict::Refused => over(app, notice, NoticeOutcome::Refused, failure).await,
        Verdict::Again => {
            let again = postpone(app, notice, &failure.unwrap_or_default()).await?;
            Ok(if again == Attempted::Again && !reached { Attempted::Silent } else { again })
        }
    }
}

/// Puts a notice off as if it had been tried in vain; a day after the session's end it is given up.
///
/// # Errors
/// When the store cannot be written.
pub async fn postpone(app: &App, notice: &LogoutNotice, failure: &str) -> Result<Attempted, Error> {
    let now = app.clock.now();
    let [spread] = entropy::bytes(&*app.entropy, "logout_spread");
    let Some(at) = next_attempt(notice.queued_at, notice.attempts, spread, now) else {
        return over(app, notice, NoticeOutcome::GivenUp, Some(failure.to_owned())).await;
    };
    settle(app, notice, Settled::Again(at, failure.to_owned())).await?;
    metrics().logout_deliveries.with_label_values(&["failed"]).inc();
    Ok(Attempted::Again)
}

/// Gives back what was claimed and not tried.
///
/// # Errors
/// When the store cannot be written; the claim then runs out by itself.
pub async fn release(app: &App, notice: &LogoutNotice) -> Result<(), Error> {
    settle(app, notice, Settled::Untried).await
}

/// What became of the request.
enum Sent {
    /// There is nobody to ask.
    Nobody(&'static str),
    /// The status of the answer.
    Answer(u16),
    /// No answer.
    Failed(outbound::Error),
}

async fn send(app: &App, notice: &LogoutNotice) -> Result<Sent, Error> {
    let models = app.store.models();
    let Some(realm) = models.realm(notice.realm).await? else { return Ok(Sent::Nobody("the realm is gone")) };
    let client = models.client_by_key(notice.realm, notice.client).await?;
    let Some(client) = client.filter(|client| client.enabled) else {
        return Ok(Sent::Nobody("the client is disabled or gone"));
    };
    let address = client.metadata.backchannel_logout_uri.as_deref();
    let Some(url) = address.and_then(|uri| url::Url::parse(uri).ok()) else {
        return Ok(Sent::Nobody("the client has no address for it any more"));
    };
    let Some(own) = notice.sub.as_deref() else { return Ok(Sent::Nobody("it was over before")) };
    let sub = &*subject::seen_by(app, &realm, &client, own).await?;
    let site = Site::new(app.config.server.public_url.as_str(), &realm);
    let order = LogoutOrder {
        realm: &realm,
        issuer: &site.issuer,
        client: &client,
        sub,
        sid: notice.session,
        now: app.clock.now(),
    };
    let token = mint::logout_token(app, &order).await?;
    let form = form_urlencoded::Serializer::new(String::new()).append_pair("logout_token", &token).finish();
    Ok(match app.outbound.post_form(&url, client.origin.into(), form).await {
        Ok(status) => Sent::Answer(status),
        Err(error) => Sent::Failed(error),
    })
}

async fn over(
    app: &App,
    notice: &LogoutNotice,
    outcome: NoticeOutcome,
    failure: Option<String>,
) -> Result<Attempted, Error> {
    let at: Timestamp = app.clock.now();
    if outcome != NoticeOutcome::Delivered {
        let (session, client) = (notice.session, notice.client);
        tracing::warn!(%session, %client, outcome = outcome.as_str(), failure, "a client was not told of a logout");
    }
    settle(app, notice, Settled::Done(Done { at, outcome }, failure)).await?;
    metrics().logout_deliveries.with_label_values(&[outcome.as_str()]).inc();
    Ok(Attempted::Over)
}

async fn settle(app: &App, notice: &LogoutNotice, settled: Settled) -> Result<(), Error> {
    let mut tx = app.store.begin().await?;
    if repo::backchannel_logout::settle(&mut tx, notice, settled).await? {
        tx.commit().await?;
    }
    Ok(())
}
