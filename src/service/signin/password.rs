//! The password step. Unknown name, wrong password, disabled account, empty password, account
//! without a password: the same query, one hash of the same cost, one audit event, the same answer.

use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::credential::CredentialSecret;
use crate::domain::model::identifier::Canonical;
use crate::domain::model::secret::Secret;
use crate::domain::model::session::{Acr, Amr};
use crate::domain::signin::identifier;
use crate::observe::metrics::metrics;
use crate::service::session::end;
use crate::service::session::open::{self, Brought, OpenedSession, Proof};
use crate::service::{App, Error};
use crate::store::repo;

/// What was typed.
pub struct Attempt<'a> {
    /// The name field.
    pub username: &'a str,
    /// The password field.
    pub password: Secret,
    /// "Keep me signed in".
    pub remember: bool,
    /// What the browser brought with it.
    pub brought: Brought<'a>,
}

/// What came of it.
pub enum Outcome {
    /// A session is open.
    SignedIn(Box<OpenedSession>),
    /// The name or the password is not right; which one is nobody's business.
    Wrong,
}

fn count(ctx: &Ctx, result: &'static str, reason: &'static str) {
    metrics().sign_ins.with_label_values(&[ctx.realm.name.as_str(), "password", result, reason]).inc();
}

/// Checks name and password and opens a session.
///
/// # Errors
/// `Busy` when past capacity: then nothing was checked, and nothing will be afterwards.
pub async fn attempt(app: &App, ctx: &Ctx, attempt: Attempt<'_>) -> Result<Outcome, Error> {
    // Past capacity a login is refused before it costs anything.
    app.passwords.check()?;
    // A name that cannot exist is looked up all the same: one query in every case.
    let canonical =
        identifier::canonical_typed(attempt.username).unwrap_or_else(|| Canonical::from_stored(String::new()));
    let found = repo::user::find_for_signin(&app.store.read(), ctx.realm.id, &canonical).await?;
    let (user, phc) = match found {
        Some((user, credential)) => {
            let phc = credential.map(|credential| match credential.secret {
                CredentialSecret::Password { phc } => phc,
            });
            (Some(user), phc)
        }
        None => (None, None),
    };
    let verdict = match app.passwords.verify(attempt.password, phc).await {
        Ok(verdict) => verdict,
        Err(error) => {
            count(ctx, "failure", "busy");
            return Err(error.into());
        }
    };
    let proved = user.as_ref().filter(|user| verdict.matches && user.enabled);
    if let Some(user) = proved {
        let proof = Proof {
            user,
            epoch: user.credential_epoch,
            acr: Acr::Aal1,
            amr: vec![Amr::Pwd],
            remember: attempt.remember,
        };
        if let Some(opened) = open::open(app, ctx, proof, attempt.brought).await? {
            count(ctx, "success", "none");
            return Ok(Outcome::SignedIn(Box::new(opened)));
        }
    }
    let mut audit = end::event(app, ctx, AuditKind::SignInRefused, Actor::Stranger);
    audit.user = user.map(|user| user.id);
    audit.reason = Some("password");
    app.store.batch().audit(audit).await?;
    count(ctx, "failure", "password");
    Ok(Outcome::Wrong)
}
