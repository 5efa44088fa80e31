//! The client's own grant (RFC 6749 section 4.4): nothing is stored, nothing can be refreshed.

use std::sync::Arc;

use super::answer::TokenAnswer;
use super::mint::{self, Order};
use crate::context::Ctx;
use crate::domain::model::client::{Client, GrantType};
use crate::domain::protocol::may_receive::{Subject, SubjectFacts, may_receive};
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::Refusal;
use crate::domain::protocol::token::client_credentials::{
    ClientCredentialsFacts, ClientCredentialsRequest, check_client_credentials,
};
use crate::service::{App, Error};

/// Answers a token request of this grant.
///
/// # Errors
/// The refusal.
pub async fn grant(app: &App, ctx: &Ctx, client: &Arc<Client>, form: &Params) -> Result<TokenAnswer, Error> {
    let scope = form.one("scope").map_err(Refusal::from)?;
    let resource = form.many("resource").map_err(Refusal::from)?;
    let resources = app.store.models().resources(ctx.realm.id).await?;
    let facts = ClientCredentialsFacts {
        client,
        resources: &resources,
        issuer: &ctx.site.issuer,
        may_receive: may_receive(&SubjectFacts { realm: &ctx.realm, client, subject: Subject::Client, now: ctx.now }),
    };
    let entitlement = check_client_credentials(facts, &ClientCredentialsRequest { scope, resource: &resource })?;
    let order = Order {
        client,
        entitlement: &entitlement,
        grant_type: GrantType::ClientCredentials,
        grant: None,
        person: None,
    };
    Ok(mint::tokens(app, ctx, &order).await?.answer(None))
}
