//! Front-Channel Logout 1.0: the signed-out page loads the clients of the session that a person ends in her
//! browser, then goes back; by the realm's switch, in bounds, with the policy that this takes and no more.

mod conformance;
mod frames;

use serde_json::Value;

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{Client, decode, text, tokens};
use crate::kit::op::Op;

/// Clients with an address for the signed-out page, in a realm that loads them.
const FRAMED: &str = r#"realm: main
settings: { logout: { front_channel: true } }
clients:
  - { client_id: web, frontchannel_logout_uri: "https://app.example/bye?tenant=a%2Fb" }
  - { client_id: asker, frontchannel_logout_uri: "https://asker.example/bye", frontchannel_logout_session_required: true }
  - { client_id: opaque, frontchannel_logout_uri: "https://opaque.example/bye" }
"#;
const OUT: &str = "https://app.example/out";

async fn start() -> Op {
    let op = Op::start().await;
    op.apply(FRAMED).await;
    op
}

/// What an answer loads in frames, in order; each in the sandbox it belongs in.
fn frames(answer: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    for tag in answer.body.split("<iframe ").skip(1) {
        let (attributes, _) = tag.split_once('>').expect("a tag");
        let get = |name: &str| {
            let (_, rest) =
                attributes.split_once(&format!("{name}=\"")).unwrap_or_else(|| panic!("{name}: {attributes}"));
            rest.split_once('"').expect("a value").0.to_owned()
        };
        assert_eq!(get("sandbox"), "allow-scripts allow-same-origin");
        assert_eq!(get("referrerpolicy"), "no-referrer");
        assert!(!get("title").is_empty());
        found.push(get("src").replace("&#38;", "&").replace("&amp;", "&"));
    }
    found
}

/// The frame that a client is loaded in.
fn frame(uri: &str, sid: &Value) -> String {
    let joint = if uri.contains('?') { '&' } else { '?' };
    let sid = sid.as_str().expect("a sid");
    format!("{uri}{joint}iss=http%3A%2F%2Flocalhost%3A8080&sid={sid}")
}

/// The sources of a directive of the page's policy.
fn sources(answer: &Answer, directive: &str) -> Option<Vec<String>> {
    let policy = answer.header("content-security-policy").expect("a policy");
    let found = policy.split("; ").find_map(|part| part.strip_prefix(&format!("{directive} ")))?;
    Some(found.split(' ').map(str::to_owned).collect())
}

/// Signs alice in at a client; her ID token and its claims.
async fn sign_in(op: &Op, browser: &mut Browser<'_>, client: Client) -> (String, Value) {
    let token = text(&tokens(op, browser, client, "openid").await, "id_token").to_owned();
    let claims = decode(&token).1;
    (token, claims)
}

fn logout(pairs: &[(&str, &str)]) -> String {
    format!("/logout?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}
