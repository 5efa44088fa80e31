//! The refresh token's text: written with its tag, read only when the tag is genuine. The tag covers
//! realm and restore epoch, so that a token of yesterday's database is worth nothing in a restored one.

use crate::context::Ctx;
use crate::domain::model::ids::GrantId;
use crate::domain::protocol::refresh_token_text::{self, GrantSecret, RefreshToken};
use crate::entropy;
use crate::seal::Purpose;
use crate::service::App;

/// The key that tags are made with; older ones come with the rotation of the master key.
const KEY_ID: u8 = 1;

/// A new grant's secret.
#[must_use]
pub fn secret(app: &App) -> GrantSecret {
    GrantSecret::new(entropy::bytes(&*app.entropy, "grant_secret"))
}

/// Writes the token of a generation.
#[must_use]
pub fn write(app: &App, ctx: &Ctx, grant: GrantId, generation: u32, secret: &GrantSecret) -> String {
    let token = RefreshToken { key_id: KEY_ID, grant, generation, secret: secret.clone() };
    let tagged = token.tagged(ctx.realm.id, ctx.realm.restore_epoch);
    let tag = app.sealer.tag(ctx.realm.id, Purpose::RefreshToken, &[&tagged]);
    token.format(&tag).expose().to_owned()
}

/// Reads a genuine token; one whose tag does not fit was never ours and is told apart from nothing.
#[must_use]
pub fn read(app: &App, ctx: &Ctx, text: &str) -> Option<RefreshToken> {
    let (token, tag) = refresh_token_text::parse(text)?;
    let tagged = token.tagged(ctx.realm.id, ctx.realm.restore_epoch);
    let genuine = token.key_id == KEY_ID && app.sealer.check_tag(ctx.realm.id, Purpose::RefreshToken, &[&tagged], &tag);
    genuine.then_some(token)
}
