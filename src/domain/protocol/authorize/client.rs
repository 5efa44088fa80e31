//! `client_id` (RFC 6749 sections 2.2 and 3.1): present once, known, enabled. Nothing can be sent to a
//! client that is not established, so each refusal here is a page of our own.

use super::table::Facts;
use crate::model::client::Client;
use crate::protocol::params::Params;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check<'a>(params: &Params, facts: &Facts<'a>) -> Result<&'a Client, Refusal> {
    let client_id = params.one("client_id")?.ok_or(Refusal::new(
        OauthCode::InvalidRequest,
        "client_id_missing",
        "client_id is missing",
    ))?;
    // The caller looked the client up; that it is the one named is checked again, so that no slip there
    // can lend one client's redirect URIs to another.
    let client = facts.client.filter(|client| client.client_id == client_id).ok_or(Refusal::new(
        OauthCode::InvalidClient,
        "client_unknown",
        // One that registered itself may have gone for want of use (B-34); its developer has to know the cure.
        if facts.realm.settings.client_registration.enabled {
            "no client has this client_id; if it registered itself, it may have expired: register again"
        } else {
            "no client has this client_id"
        },
    ))?;
    if !client.enabled {
        return Err(Refusal::new(OauthCode::InvalidClient, "client_disabled", "this client is disabled"));
    }
    Ok(client)
}
