//! The state of a browser as clients' frames may know it (Session Management 1.0 section 3.2): another after
//! each sign-in, none after the sign-out. A keyed hash, so that whoever reads it learns neither the `sid` nor
//! anything else, and can make no other of it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::domain::model::session::Session;
use crate::seal::Purpose;
use crate::service::App;

/// The state while this session lasts and its person does not prove herself again.
#[must_use]
pub fn of(app: &App, session: &Session) -> String {
    let proved = session.auth_time.as_micros().to_be_bytes();
    URL_SAFE_NO_PAD.encode(app.sealer.tag(session.realm, Purpose::BrowserState, &[session.id.as_bytes(), &proved]))
}
