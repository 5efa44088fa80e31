//! Several people in one browser: up to five accounts, a page to choose among them, hints that pick one
//! (OpenID Connect Core 3.1.2.1; decisions, "Session"; `security-design` A).

mod choice;
mod cookie;
mod hints;
mod hostile;
mod sign_out;

use serde_json::Value;

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{Client, WEB, authorize, code, id_claims, sign_in_beside};
use crate::kit::op::Op;
use crate::kit::page::Page;

const BOBS: &str = "bob has a long password";
const CHOOSE: [(&str, &str); 1] = [("prompt", "select_account")];
const SILENT: [(&str, &str); 1] = [("prompt", "none")];

/// A browser in which alice signed in and then bob, who is the present one.
async fn both(op: &Op) -> Browser<'_> {
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    sign_in_beside(&mut browser, "bob", BOBS).await;
    browser
}

/// The accounts on the page, in order, each as its text.
fn listed(answer: &Answer) -> Vec<String> {
    let buttons = answer.body.split("id=\"choose-").skip(1);
    buttons
        .map(|rest| {
            Page::read(&rest[rest.find('>').expect("a tag") + 1..rest.find("</button>").expect("its end")]).text
        })
        .collect()
}

/// The button of the account whose text has this word.
fn button(answer: &Answer, word: &str) -> String {
    let place = listed(answer).iter().position(|text| text.contains(word));
    format!("choose-{}", place.unwrap_or_else(|| panic!("{word} in {:?}", listed(answer))) + 1)
}

/// Chooses an account on the page that the browser stands on.
async fn choose(browser: &mut Browser<'_>, word: &str) -> Answer {
    let button = button(browser.at.as_ref().expect("a page"), word);
    browser.submit(&button, &[]).await
}

/// Whom a silent request finds; none where it is refused with `login_required`.
async fn silently(op: &Op, browser: &mut Browser<'_>, extra: &[(&str, &str)]) -> Option<Value> {
    let answer = browser.get(&authorize(WEB, "openid", &[&SILENT[..], extra].concat())).await;
    if let Some(error) = answer.location_param("error") {
        assert_eq!(error, "login_required");
        return None;
    }
    Some(id_claims(op, WEB, &answer).await)
}

/// The subjects of alice and bob.
async fn subjects(op: &Op) -> (Value, Value) {
    let sub = async |name: &str| {
        let user = crate::kit::token::db_user(op, name).await;
        Value::from(user.sub)
    };
    (sub("alice").await, sub("bob").await)
}

async fn page(browser: &mut Browser<'_>, client: Client, extra: &[(&str, &str)]) -> Answer {
    browser.get(&authorize(client, "openid", extra)).await
}
