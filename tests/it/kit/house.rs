//! Several realms in one product: the main one, one under a path, one with a host of its own, one
//! that is disabled. The clients of all have the same names and secrets and the people the same
//! names, so that only the realm tells them apart.

use serde_json::Value;

use super::browser::{Answer, Browser};
use super::flow::{Client, VERIFIER, authorize_at, post_as};
use super::op::{Op, PASSWORD, REALM};

/// A realm as the tests know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct House {
    /// Its issuer.
    pub issuer: &'static str,
    /// Alice's password there.
    pub password: &'static str,
    /// Alice's family name there.
    pub family_name: &'static str,
}

/// The main realm.
pub const MAIN: House = House { issuer: "https://id.example", password: PASSWORD, family_name: "Adams" };
/// A realm under a path.
pub const OTHER: House =
    House { issuer: "https://id.example/realms/other", password: "another horse battery", family_name: "Other" };
/// A realm with a host of its own.
pub const THIRD: House =
    House { issuer: "https://login.example", password: "a third horse battery", family_name: "Third" };
/// All that answer.
pub const HOUSES: [House; 3] = [MAIN, OTHER, THIRD];

/// The realm file of all.
pub fn realms() -> String {
    format!("{REALM}\n---\n{}", include_str!("houses.yaml"))
}

/// The product with all of them.
pub async fn start() -> Op {
    Op::builder().public_url(MAIN.issuer).realm(&realms()).start().await
}

impl House {
    /// An address of the realm.
    pub fn at(self, path: &str) -> String {
        format!("{}{path}", self.issuer)
    }

    /// An authorization request.
    pub fn authorize(self, client: Client, scope: &str, extra: &[(&str, &str)]) -> String {
        authorize_at(self.issuer, client, scope, extra)
    }

    /// Signs alice in where she is not yet, and comes back with the answer to the client.
    pub async fn answer(self, browser: &mut Browser<'_>, client: Client, scope: &str) -> Answer {
        let mut answer = browser.get(&self.authorize(client, scope, &[])).await;
        if answer.page().has_id("login-submit") {
            answer = browser.sign_in("alice", self.password).await;
        }
        assert!(answer.status.is_redirection(), "{} {}", answer.status, answer.body);
        answer
    }

    /// As [`Self::answer`], the code.
    pub async fn code(self, browser: &mut Browser<'_>, client: Client, scope: &str) -> String {
        let answer = self.answer(browser, client, scope).await;
        answer.location_param("code").unwrap_or_else(|| panic!("no code: {}", answer.location()))
    }

    /// Redeems a code.
    pub async fn redeem(self, op: &Op, client: Client, code: &str) -> Answer {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", client.redirect_uri),
            ("code_verifier", VERIFIER),
        ];
        post_as(op, client, &self.at("/token"), &fields).await
    }

    /// Refreshes.
    pub async fn refresh(self, op: &Op, client: Client, token: &str) -> Answer {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
        post_as(op, client, &self.at("/token"), &fields).await
    }

    /// A whole sign-in.
    pub async fn tokens(self, op: &Op, browser: &mut Browser<'_>, client: Client, scope: &str) -> Value {
        let code = self.code(browser, client, scope).await;
        let answer = self.redeem(op, client, &code).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    /// Userinfo with a token.
    pub async fn userinfo(self, op: &Op, access_token: &str) -> Answer {
        op.get(&self.at("/userinfo"), &[("authorization", &format!("Bearer {access_token}"))]).await
    }

    /// Introspection by a client.
    pub async fn introspect(self, op: &Op, caller: Client, token: &str) -> Value {
        let answer = post_as(op, caller, &self.at("/introspect"), &[("token", token)]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    /// What `prompt=none` says to this browser: the error, or nothing for a code.
    pub async fn silent(self, browser: &mut Browser<'_>, extra: &[(&str, &str)]) -> Option<String> {
        let mut pairs = vec![("prompt", "none")];
        pairs.extend(extra);
        let answer = browser.get(&self.authorize(super::flow::WEB, "openid", &pairs)).await;
        answer.location_param("error")
    }
}
