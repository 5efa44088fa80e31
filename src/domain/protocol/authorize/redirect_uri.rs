//! `redirect_uri` (RFC 6749 section 3.1.2.3, RFC 9700 section 2.1): demanded in each request, even
//! where only one is registered (OpenID Connect Core 3.1.2.1), and equal to a registered one.

use crate::model::client::Client;
use crate::protocol::params::Params;
use crate::protocol::redirect_uri::{difference, matches};
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check<'a>(params: &'a Params, client: &Client) -> Result<&'a str, Refusal> {
    let asked = params.one("redirect_uri")?.ok_or(Refusal::new(
        OauthCode::InvalidRequest,
        "redirect_uri_missing",
        "redirect_uri is missing",
    ))?;
    if matches(&client.metadata.redirect_uris, asked).is_none() {
        return Err(Refusal::new(
            OauthCode::InvalidRequest,
            "redirect_uri_not_registered",
            difference(&client.metadata.redirect_uris, asked),
        ));
    }
    Ok(asked)
}
