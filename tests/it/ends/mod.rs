//! The end of power: sessions, grants and tokens end once, at once, everywhere, and nothing is born
//! under a parent that has ended (`security-design` A, 16, 33).

mod at_once;
mod clients;
mod kept;
mod limits;
mod names;
mod race;

use std::sync::Arc;

use doorward::domain::model::realm::Realm;
use doorward::domain::model::secret::Secret;
use doorward::domain::model::session::Session;
use doorward::domain::model::user::User;
use doorward::service::admin;
use doorward::service::admin::session::Offline;
use doorward::store::repo;
use serde_json::Value;

use crate::kit::browser::Browser;
use crate::kit::flow::{Client, WEB, authorize, introspect, post_as, refresh, tokens, userinfo};
use crate::kit::op::Op;

/// Silent authorization: is she still signed in?
pub(super) const SILENT: [(&str, &str); 1] = [("prompt", "none")];

/// The main realm.
pub(super) async fn realm(op: &Op) -> Arc<Realm> {
    op.app.store.models().realm_by_name("main").await.expect("readable").expect("the main realm")
}

/// Alice as stored.
pub(super) async fn alice(op: &Op) -> User {
    let realm = realm(op).await;
    admin::user::find(&op.app, &realm, "alice").await.expect("readable").expect("alice")
}

/// Her sessions as stored, newest first.
pub(super) async fn sessions(op: &Op) -> Vec<Session> {
    let alice = alice(op).await;
    repo::session::list_for_user(&op.app.store.read(), alice.realm, alice.id, 1000).await.expect("readable")
}

/// Disables or enables her.
pub(super) async fn switch(op: &Op, enabled: bool) {
    let alice = alice(op).await;
    assert!(admin::user::switch(&op.app, &alice, enabled).await.expect("written"));
}

/// Gives her another password.
pub(super) async fn set_password(op: &Op, password: &str) {
    let (realm, alice) = (realm(op).await, alice(op).await);
    admin::user::set_password(&op.app, &realm, &alice, &Secret::from(password)).await.expect("written");
}

/// Ends all her sessions, what was granted for offline use too.
pub(super) async fn end_all(op: &Op) {
    let alice = alice(op).await;
    assert!(admin::session::end_all(&op.app, &alice, Offline::End).await.expect("written") > 0);
}

/// What a client holds.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) client: Client,
    pub(super) access: String,
    pub(super) refresh: String,
    pub(super) id: String,
}

impl Held {
    /// Alice signs in, where she is not yet, and the client gets its tokens.
    pub(super) async fn get(op: &Op, browser: &mut Browser<'_>, client: Client, scope: &str) -> Self {
        Self::read(client, &tokens(op, browser, client, scope).await)
    }

    /// From the token endpoint's answer.
    pub(super) fn read(client: Client, value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Self { client, access: text("access_token"), refresh: text("refresh_token"), id: text("id_token") }
    }

    /// Whether the tokens are still good for anything, asked without using the refresh token.
    pub(super) async fn is_live(&self, op: &Op) -> bool {
        let access = introspect(op, self.client, &self.access).await["active"] == true;
        let person = userinfo(op, &self.access).await.status == 200;
        let grant = introspect(op, self.client, &self.refresh).await["active"] == true;
        assert!(access == person && person == grant, "access {access}, userinfo {person}, refresh {grant}");
        access
    }

    /// Nothing of it is good for anything.
    pub(super) async fn assert_dead(&self, op: &Op, why: &str) {
        assert!(!self.is_live(op).await, "{why}");
        let answer = refresh(op, self.client, &self.refresh).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["error"]), (400, &"invalid_grant".into()), "{why}");
    }

    /// The client gives its access token back.
    pub(super) async fn revoke_access(&self, op: &Op) {
        assert_eq!(post_as(op, self.client, "/revoke", &[("token", &self.access)]).await.status, 200);
    }

    /// The client gives its grant back.
    pub(super) async fn revoke_refresh(&self, op: &Op) {
        assert_eq!(post_as(op, self.client, "/revoke", &[("token", &self.refresh)]).await.status, 200);
    }
}

/// Whether a browser is signed in: silent authorization brings a code.
pub(super) async fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    let answer = browser.get(&authorize(WEB, "openid", &SILENT)).await;
    let (code, error) = (answer.location_param("code"), answer.location_param("error"));
    assert!(code.is_some() || error.as_deref() == Some("login_required"), "{}", answer.location());
    code.is_some()
}
