//! `serve --dev`: for this machine only, on a database of its own (`security-design` rule 29).

use crate::kit::process::{Doorward, free_ports};
use crate::kit::visitor::{Visitor, get};

#[tokio::test]
async fn a_server_says_its_issuer_and_answers_there() {
    let server = Doorward::running().await;
    assert!(server.log().contains(&format!("Issuer: {}", server.issuer())), "{}", server.log());
    let metadata = get(&format!("{}/.well-known/openid-configuration", server.issuer()), &[]).await.json();
    assert_eq!(metadata["issuer"], server.issuer().as_str());
}

#[tokio::test]
async fn development_says_where_everything_is_and_signs_the_demo_user_in() {
    let mut server = Doorward::embedded().await;
    server.start_with(&["--dev"]).await;
    let (issuer, log) = (server.issuer(), server.log());
    assert!(!log.contains('\u{1b}'), "colours are for a terminal: {log}");
    for line in [
        format!("Issuer        {issuer}\n"),
        format!("Demo app      {issuer}/demo\n"),
        "Sign in as    demo / doorward demo\n".to_owned(),
        format!("{}/health/ready", server.management()),
    ] {
        assert!(log.contains(&line), "{line} in:\n{log}");
    }
    assert!(server.data_dir().join("dev/doorward.db").is_file(), "its data lies apart");
    let mut visitor = Visitor::new(&issuer);
    let query = "response_type=code&client_id=demo&scope=openid&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM\
                 &code_challenge_method=S256";
    let back = format!("{issuer}/demo/callback");
    let back: String = form_urlencoded::byte_serialize(back.as_bytes()).collect();
    visitor.open(&format!("/authorize?{query}&redirect_uri={back}")).await;
    let answer = visitor.submit("login-submit", &[("username", "demo"), ("password", "doorward demo")]).await;
    assert!(answer.page().has_id("consent-allow"), "{} {}", answer.status, answer.body);
}

#[tokio::test]
async fn every_command_works_on_the_development_database_when_it_is_told_to() {
    let mut server = Doorward::embedded().await;
    server.start_with(&["--dev"]).await;
    let file = server.folder().join("more.yaml");
    std::fs::write(&file, "realm: main\nroles: [{ name: planted }]\n").expect("written");
    server.command_ok(&["apply", "--dev", &file.to_string_lossy()]);
    for (arguments, wanted) in [
        (&["export"][..], "planted"),
        (&["user", "list"], "demo"),
        (&["client", "show", "demo"], "demo/callback"),
        (&["session", "list", "--user", "demo", "--json"], "["),
        (&["key", "list"], "active"),
        (&["migrate", "status"], "applied"),
        (&["doctor"], "ok"),
    ] {
        let said = server.command_ok(&[arguments, &["--dev"]].concat());
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
    assert!(!server.data_dir().join("doorward.db").exists(), "production's was not so much as made");
    server.set("DOORWARD_DATA_DIR", &server.data_dir().join("dev").to_string_lossy());
    let refused = crate::kit::process::Refused::read(&server.command(&["user", "list"]));
    refused.says(78, &["development", "production", "add --dev"]);
}

#[tokio::test]
async fn development_listens_on_the_loopback_interface_whatever_is_configured() {
    let mut server = Doorward::embedded().await;
    let [management] = free_ports();
    server.set("DOORWARD_LISTEN", &format!("0.0.0.0:{}", server.port()));
    server.set("DOORWARD_MANAGEMENT__LISTEN", &format!("0.0.0.0:{management}"));
    server.move_management(management);
    server.start_with(&["--dev"]).await;
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
    for port in [server.port(), management] {
        // local address, remote address, state 0A = listening
        let open: Vec<&str> = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .filter(|words| words.len() > 3 && words[3] == "0A" && words[1].ends_with(&format!(":{port:04X}")))
            .filter_map(|words| words[1].split(':').next())
            .collect();
        assert!(!open.is_empty(), "nobody listens on {port}");
        assert!(open.iter().all(|address| *address == "0100007F"), "{port} is open at {open:?}");
    }
}

#[tokio::test]
async fn development_refuses_an_address_that_others_can_reach() {
    let mut server = Doorward::embedded().await;
    server.set("DOORWARD_PUBLIC_URL", "https://id.example.com");
    server.refused(&["--dev"]).says(78, &["public_url", "https://id.example.com", "--dev", "loopback"]);
    assert!(!server.data_dir().exists(), "nothing was made");
}

#[tokio::test]
async fn development_refuses_foreign_hosts_and_forwarded_ones() {
    let mut server = Doorward::embedded().await;
    server.set("DOORWARD_TRUSTED_PROXIES", "127.0.0.0/8");
    server.start_with(&["--dev"]).await;
    let url = format!("{}/.well-known/openid-configuration", server.issuer());
    assert_eq!(get(&url, &[("host", "rebound.example")]).await.status, 421);
    // A forwarded host counts for nothing: the answer is the one for the real host.
    let answer = get(&url, &[("x-forwarded-host", "rebound.example")]).await;
    assert!(!answer.body.contains("rebound.example"), "{}", answer.body);
}

#[tokio::test]
async fn a_development_database_and_a_production_database_are_never_taken_for_each_other() {
    let mut server = Doorward::embedded().await;
    server.start_with(&["--dev"]).await;
    server.kill();
    let folder = server.data_dir();
    server.set("DOORWARD_DATA_DIR", &folder.join("dev").to_string_lossy());
    server.refused(&[]).says(78, &["development", "production", "data_dir"]);

    // And the reverse: made by production in a folder that --dev would take.
    let mut server = Doorward::embedded().await;
    let folder = server.data_dir();
    server.set("DOORWARD_DATA_DIR", &folder.join("dev").to_string_lossy());
    server.start().await;
    server.kill();
    server.set("DOORWARD_DATA_DIR", &folder.to_string_lossy());
    server.refused(&["--dev"]).says(78, &["production", "development", "data_dir"]);
    server.set("DOORWARD_DATA_DIR", &folder.join("dev").to_string_lossy());
    server.start().await;
}
