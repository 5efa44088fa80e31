//! A request that came as an object (OpenID Connect Core 6, RFC 9101): read, verified, and laid over what stands
//! beside it, before anything else is looked at.

use super::request_uri;
use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::protocol::authorize::table::SINGLE;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::protocol::request_object::{self, RequestObject};
use crate::service::App;

/// What became of the parameters.
pub enum Read {
    /// There is no object.
    Plain,
    /// With one.
    Effective(Params),
    /// The object is refused.
    Refused {
        /// The parameters as far as they count, once it is certain whose object it is.
        params: Option<Params>,
        /// Why.
        refusal: Refusal,
    },
}

/// Reads the object of a request, if it has one.
pub async fn read(app: &App, ctx: &Ctx, client: &Client, params: &Params) -> Read {
    // What stands twice beside the object is refused as it always is, and says so.
    if !(params.has("request") || params.has("request_uri")) || params.check_single(&SINGLE).is_err() {
        return Read::Plain;
    }
    let by_reference;
    let text = match (params.get("request"), params.get("request_uri")) {
        (None, None) => return Read::Plain,
        (Some(_), Some(_)) => {
            let refusal = Refusal::new(
                OauthCode::InvalidRequest,
                "object_twice",
                "send request or request_uri, not both (OpenID Connect Core 6)",
            );
            return Read::Refused { params: None, refusal };
        }
        (Some(object), None) => object,
        (None, Some(uri)) => match request_uri::read(app, ctx, client, uri).await {
            Ok(object) => {
                by_reference = object;
                by_reference.trim_ascii_end()
            }
            Err(refusal) => return Read::Refused { params: None, refusal },
        },
    };
    let (object, effective) = match verified(app, ctx, client, text, params).await {
        Ok(verified) => verified,
        Err(refusal) => return Read::Refused { params: None, refusal },
    };
    match object.check(client, &ctx.site.issuer, ctx.now) {
        Ok(()) => Read::Effective(effective),
        Err(refusal) => Read::Refused { params: Some(effective), refusal },
    }
}

async fn verified<'a>(
    app: &App,
    ctx: &Ctx,
    client: &Client,
    text: &'a str,
    params: &Params,
) -> Result<(RequestObject<'a>, Params), Refusal> {
    let object = request_object::parse(text)?;
    if object.needs_signature(client)? {
        RequestObject::check_signature(app.client_keys.verify(&app.outbound, client, &object.jws, ctx.now).await)?;
    }
    let effective = object.effective(params)?;
    Ok((object, effective))
}
