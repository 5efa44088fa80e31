//! Relying parties built on libraries that others wrote, each as its own documentation says, against the real binary.
//! What a library is told here beyond its quick start stands in `docs/relying-parties.md`.
//!
//! The database makes no difference to a peer, and the rest of the suite runs on both: these run on SQLite only.

mod authlib;
mod oauth2_proxy;
mod openid_client;

use serde_json::{Value, json};

use crate::kit::db;
use crate::kit::process::Doorward;
use crate::kit::signing::{EC, jwks};

const SECRET: &str = "peer-secret-of-the-tests-0123456789";
/// With signs that mean something to those who forget to encode.
const AWKWARD_SECRET: &str = "peer-secret/of+the%tests-0123456789";
const REDIRECT_URI: &str = "http://localhost:3000/callback";
const GOODBYE: &str = "http://localhost:3000/goodbye";

/// A provider with the peer's realm, and what the peer's scripts are given; `None` where the run is on PostgreSQL.
async fn introduce(realm: &str) -> Option<(Doorward, Value)> {
    if db::on_postgres() {
        return None;
    }
    let mut doorward = Doorward::prepare().await;
    let realm = realm
        .replace("@SECRET@", SECRET)
        .replace("@AWKWARD_SECRET@", AWKWARD_SECRET)
        .replace("@REDIRECT_URI@", REDIRECT_URI)
        .replace("@GOODBYE@", GOODBYE)
        .replace("@JWKS@", &jwks(&[EC.public(Some("peer"))]));
    doorward.apply(&realm);
    doorward.start().await;
    let given = json!({
        "issuer": doorward.issuer(),
        "secret": SECRET,
        "awkward_secret": AWKWARD_SECRET,
        "redirect_uri": REDIRECT_URI,
        "goodbye": GOODBYE,
        "username": "alice",
        "password": "correct horse battery staple",
        "key": EC.private("peer"),
    });
    Some((doorward, given))
}
