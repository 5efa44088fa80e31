//! ID token hints (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2): ours by signature and issuer,
//! however old; keys that are gone from the published set still count here.

use crate::context::Ctx;
use crate::domain::protocol::id_token::{self, HintClaims};
use crate::keys;
use crate::service::{App, Error};

/// A genuine hint's claims; `None` = not ours, altered, or not an ID token.
///
/// # Errors
/// When the keys cannot be read.
pub async fn read(app: &App, ctx: &Ctx, token: &str) -> Result<Option<HintClaims>, Error> {
    match app.keys.verify(ctx.realm.id, token, ctx.now).await {
        Ok(verified) => {
            Ok(id_token::parse_hint(verified.header.typ.as_deref(), &verified.payload, &ctx.site.issuer).ok())
        }
        Err(keys::Error::Refused) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
