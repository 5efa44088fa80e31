//! `client initial-access-token`: what lets applications register themselves, over ssh and over the network.

use openidconnect::reqwest::{Client, Response, redirect};
use serde_json::{Value, json};

use crate::kit::op::REALM;
use crate::kit::process::{Doorward, Refused};

async fn register(server: &Doorward, token: &str) -> Response {
    let client = Client::builder().redirect(redirect::Policy::none()).no_proxy().build().expect("a client");
    let body = json!({ "client_name": "By itself", "redirect_uris": ["https://fresh.example/cb"] });
    let request = client.post(format!("{}/register", server.issuer())).bearer_auth(token);
    request.header("content-type", "application/json").body(body.to_string()).send().await.expect("an answer")
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn a_token_is_made_used_listed_and_revoked() {
    let server = Doorward::running().await;
    let make = ["client", "initial-access-token", "create", "--label", "build farm", "--uses", "2", "--for", "30d"];
    let made = Refused::read(&server.command(&make));
    assert!(made.said.contains("set settings.client_registration.enabled"), "{}", made.said);
    let on = "settings:\n  client_registration: { enabled: true }\n  keys:";
    server.apply(&REALM.replace("settings:\n  keys:", on));

    let made = json_of(&server.command_ok(&[&make[..], &["--json"]].concat()));
    let token = made["initial_access_token"].as_str().expect("a token").to_owned();
    assert!(token.starts_with("dwi_") && made["uses_left"] == 2, "{made}");
    let answer = register(&server, &token).await;
    assert_eq!(answer.status(), 201);
    let client = json_of(&answer.text().await.expect("a body"));
    assert_eq!(register(&server, "dwi_guess").await.status(), 401);

    let listed = server.command_ok(&["client", "initial-access-token", "list"]);
    assert!(listed.contains("build farm") && listed.contains("1 left") && !listed.contains(&token), "{listed}");
    let clients = server.command_ok(&["client", "list"]);
    let line = clients.lines().find(|line| line.contains(client["client_id"].as_str().expect("an id")));
    assert!(line.is_some_and(|line| line.contains("registered itself") && line.contains("By itself")), "{clients}");
    assert!(clients.lines().any(|line| line.starts_with("web ") && !line.contains("registered itself")), "{clients}");

    let own = json_of(&server.command_ok(&["client", "list", "--origin", "self_registered", "--json"]));
    assert_eq!((own.as_array().map(Vec::len), &own[0]["origin"]), (Some(1), &json!("self_registered")));
    assert!(!server.command_ok(&["client", "list", "--origin", "operator"]).contains("By itself"));

    let well = server.command_ok(&["doctor"]);
    assert!(well.contains("1 clients registered themselves, 1000 may"), "{well}");
    server.apply("realm: main\nsettings: { client_registration: { redirect_errors: true, max_clients: 1 } }\n");
    let odd = server.command_ok(&["doctor"]);
    for part in ["and no more may", "raise client_registration.max_clients", "can send people anywhere"] {
        assert!(odd.contains(part), "{part}: {odd}");
    }

    let id = made["id"].as_str().expect("an id");
    server.command_ok(&["client", "initial-access-token", "revoke", id]);
    assert_eq!(register(&server, &token).await.status(), 401);
    for unknown in [id, "iat_x"] {
        Refused::read(&server.command(&["client", "initial-access-token", "revoke", unknown]))
            .says(1, &["there is no token"]);
    }
    for wrong in [["--uses", "0"], ["--for", "400d"], ["--for", "soon"]] {
        let asked = [&["client", "initial-access-token", "create", "--label", "x"], &wrong[..]].concat();
        assert_eq!(server.command(&asked).status.code(), Some(2), "{wrong:?}");
    }
    Refused::read(&server.command(&["client", "initial-access-token", "create", "--label", ""])).says(1, &["label"]);
}
