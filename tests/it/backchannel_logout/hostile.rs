//! Logout endpoints that are slow, endless, elsewhere or inside: refused or limited, and nobody else waits.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use doorward::domain::model::backchannel_logout::NoticeOutcome;
use doorward::outbound::Outbound;
use doorward::tasks::backchannel_logout;

use super::{db_states, send, sign_in, sign_out};
use crate::kit::flow::{OPAQUE, WEB};
use crate::kit::names::Turning;
use crate::kit::op::Op;
use crate::kit::receiver::{Receiver, Reply};
use crate::kit::tls_host::{Behaviour, TlsHost};

fn at(client: &str, uri: &str) -> String {
    format!("realm: main\nclients:\n  - {{ client_id: {client}, backchannel_logout_uri: \"{uri}\" }}\n")
}

/// Told at this address: how it is over, and what went wrong.
async fn told_at(op: &Op, uri: &str) -> (Option<NoticeOutcome>, Option<String>) {
    op.db.run("delete from backchannel_logout").await;
    op.apply(&at("web", uri)).await;
    let mut browser = op.browser();
    sign_in(op, &mut browser, WEB).await;
    sign_out(&mut browser).await;
    assert_eq!(send(op).await, 1);
    let [(_, _, outcome, failure)] = db_states(op).await.try_into().expect("one notice");
    (outcome, failure)
}

#[tokio::test]
async fn over_tls_each_answer_means_what_it_says_and_none_is_read() {
    let host = TlsHost::start(&[
        ("/page", Behaviour::sends("text/html", b"<p>Bye")),
        ("/redirects", Behaviour::Redirects("/page")),
        ("/never-ends", Behaviour::NeverEnds),
        ("/stalls", Behaviour::Stalls),
        ("/recovers", Behaviour::Recovers),
        ("/sleeps", Behaviour::Sleeps),
    ])
    .await;
    let authority = host.authority();
    let op = Receiver::op().env("DOORWARD_OUTBOUND__CA_FILE", authority.to_str().expect("a path")).start().await;
    // Whoever read on would wait for what stalls and for what never ends.
    let delivered = (Some(NoticeOutcome::Delivered), None);
    for path in ["/page", "/never-ends", "/stalls"] {
        assert_eq!(told_at(&op, &host.url("localhost", path)).await, delivered, "{path}");
    }
    let refused = |status: &str| (Some(NoticeOutcome::Refused), Some(status.to_owned()));
    assert_eq!(told_at(&op, &host.url("localhost", "/redirects")).await, refused("status 302"));
    assert_eq!(host.seen("/page"), 1, "a redirect is not followed");
    assert_eq!(told_at(&op, &host.url("localhost", "/missing")).await, refused("status 404"));
    let again = |why: &str| (None, Some(why.to_owned()));
    assert_eq!(told_at(&op, &host.url("localhost", "/sleeps")).await, again("no answer in time"));
    assert_eq!(told_at(&op, &host.url("localhost", "/recovers")).await, again("status 503"));
    op.advance(Duration::from_mins(1)).await;
    assert_eq!((send(&op).await, host.seen("/recovers")), (1, 2));
    assert_eq!(db_states(&op).await[0].2, Some(NoticeOutcome::Delivered));
}

#[tokio::test]
async fn addresses_inside_are_not_called() {
    let host = TlsHost::start(&[("/in", Behaviour::sends("text/html", b""))]).await;
    let receiver = Receiver::start().await;
    let authority = host.authority();
    let op = Receiver::op().env("DOORWARD_OUTBOUND__CA_FILE", authority.to_str().expect("a path")).start().await;
    let inside = Some("the address lies in a network that outbound.allow_networks does not name".to_owned());
    // 127.0.0.1 alone is allowed.
    for uri in [
        host.url("127.0.0.2", "/in"),
        "https://169.254.169.254/latest".to_owned(),
        "https://10.0.0.1/".to_owned(),
        "https://[::1]/".to_owned(),
    ] {
        assert_eq!(told_at(&op, &uri).await, (None, inside.clone()), "{uri}");
    }
    assert_eq!(host.seen("/in"), 0);
    // Without a network that is allowed, not even this machine in plain http.
    let op = Op::start().await;
    assert_eq!(told_at(&op, &receiver.url("/web")).await, (None, inside));
    assert_eq!(receiver.count(), 0);
}

#[tokio::test]
async fn a_name_that_leads_inside_the_next_time_is_not_followed_there() {
    let host = TlsHost::start(&[("/in", Behaviour::Recovers), ("/once", Behaviour::sends("text/html", b""))]).await;
    let authority = host.authority();
    let op = Receiver::op().env("DOORWARD_OUTBOUND__CA_FILE", authority.to_str().expect("a path")).start().await;
    let (allowed, inside): (IpAddr, IpAddr) = (Ipv4Addr::LOCALHOST.into(), [127, 0, 0, 2].into());
    let tell = async |answers: Vec<Vec<IpAddr>>| {
        let names = Arc::new(Turning::new(answers));
        let outbound = Outbound::new(&op.app.config.outbound).expect("a client").with_names(names.clone());
        let mut app = (*op.app).clone();
        app.outbound = Arc::new(outbound);
        op.app.store.batch().flush().await.expect("flushed");
        assert_eq!(
            backchannel_logout::run_once(&Arc::new(app), op.app.clock.now()).await.expect("the store answers"),
            1
        );
        names.left()
    };
    op.apply(&at("web", &host.url("localhost", "/in"))).await;
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    sign_out(&mut browser).await;
    // The first attempt reaches the host that the name meant; by the second it means one inside.
    tell(vec![vec![allowed]]).await;
    assert_eq!((host.seen("/in"), db_states(&op).await[0].3.as_deref()), (1, Some("status 503")));
    op.advance(Duration::from_mins(1)).await;
    tell(vec![vec![inside]]).await;
    let why = "the address lies in a network that outbound.allow_networks does not name";
    assert_eq!((host.seen("/in"), db_states(&op).await[0].3.as_deref()), (1, Some(why)), "not called");
    // Of several addresses only those that may be called are; and nothing is looked up twice for one request.
    op.apply(&at("web", &host.url("localhost", "/once"))).await;
    op.advance(Duration::from_mins(2)).await;
    assert_eq!(tell(vec![vec![inside, allowed], vec![inside], vec![inside]]).await, 2, "one look-up");
    assert_eq!((host.seen("/once"), db_states(&op).await[0].2), (1, Some(NoticeOutcome::Delivered)));
}

#[tokio::test]
async fn a_client_that_hangs_keeps_nobody_waiting() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web", "opaque"])).await;
    receiver.set("/opaque", Reply::Hangs);
    for _ in 0..12 {
        let mut browser = op.browser();
        sign_in(&op, &mut browser, OPAQUE).await;
        sign_in(&op, &mut browser, WEB).await;
        sign_out(&mut browser).await;
    }
    let mut turn = std::pin::pin!(send(&op));
    tokio::select! {
        _ = &mut turn => panic!("the turn ends when what hangs has timed out"),
        () = receiver.until("/web", 12) => {}
    }
    tokio::select! {
        _ = &mut turn => panic!("it still waits"),
        answer = op.get("/.well-known/jwks.json", &[]) => assert_eq!(answer.status, 200, "the provider answers meanwhile"),
    }
    assert_eq!(turn.await, 24);
    assert!(receiver.came("/opaque").len() <= 4, "a few at once, and then no more");
}

#[tokio::test]
async fn an_address_that_may_not_be_registered_is_refused_with_what_to_change() {
    let op = Op::start().await;
    for (client, uri, told) in [
        ("web", "http://app.example/bye", "must use https; http is for localhost"),
        ("web", "https://app.example/bye#x", "must not have a fragment"),
        ("web", "com.example.app:/bye", "must use https"),
        ("web", "javascript:alert(1)", "must not use the scheme javascript"),
        ("web", "https://u@app.example/", "user name"),
        ("web", "/bye", "absolute URI"),
        ("native", "http://localhost/bye", "http is for confidential clients"),
    ] {
        let said = op.try_apply(&at(client, uri)).await.expect_err(uri);
        assert!(said.contains("backchannel_logout_uri") && said.contains(told), "{uri}: {said}");
    }
    for uri in ["https://app.example/bye?tenant=a", "http://localhost:3000/bye", "http://[::1]/bye"] {
        op.try_apply(&at("web", uri)).await.unwrap_or_else(|said| panic!("{uri}: {said}"));
    }
}
