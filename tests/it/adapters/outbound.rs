//! `security-design` rule 25: where the server goes, and where it does not.

use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use doorward::config;
use doorward::outbound::address::{Class, classify};
use doorward::outbound::{DEFAULT_MAX, Error, Outbound, Trust, media_type};
use url::Url;

use crate::kit::tls_host::{Behaviour, PNG, TlsHost};

#[test]
fn only_global_unicast_is_the_public_internet() {
    for (text, class) in [
        ("8.8.8.8", Class::Global),
        ("172.15.255.255", Class::Global),
        ("172.32.0.0", Class::Global),
        ("100.128.0.0", Class::Global),
        ("2606:4700::1111", Class::Global),
        ("2a00:1450::1", Class::Global),
        ("2001:4860:4860::8888", Class::Global),
        ("0.0.0.0", Class::Local),
        ("0.1.2.3", Class::Local),
        ("127.0.0.1", Class::Local),
        ("127.255.255.254", Class::Local),
        ("::1", Class::Local),
        ("::", Class::Local),
        ("10.255.0.1", Class::Private),
        ("172.16.0.1", Class::Private),
        ("172.31.255.255", Class::Private),
        ("192.168.1.1", Class::Private),
        ("fc00::1", Class::Private),
        ("fd00:ec2::254", Class::Private),
        ("fec0::1", Class::Private),
        ("169.254.169.254", Class::LinkLocal),
        ("fe80::1", Class::LinkLocal),
        ("100.64.0.1", Class::Shared),
        ("100.100.100.200", Class::Shared),
        ("168.63.129.16", Class::Metadata),
        ("192.0.0.192", Class::Reserved),
        ("192.0.2.1", Class::Documentation),
        ("198.51.100.7", Class::Documentation),
        ("203.0.113.9", Class::Documentation),
        ("198.19.255.255", Class::Documentation),
        ("2001:db8::1", Class::Documentation),
        ("3fff:fff::1", Class::Documentation),
        ("224.0.0.1", Class::Multicast),
        ("239.255.255.255", Class::Multicast),
        ("ff02::1", Class::Multicast),
        ("240.0.0.1", Class::Reserved),
        ("255.255.255.255", Class::Reserved),
        ("4000::1", Class::Reserved),
        ("100::1", Class::Reserved),
        ("::ffff:8.8.8.8", Class::Translated),
        ("::ffff:127.0.0.1", Class::Translated),
        ("::8.8.8.8", Class::Translated),
        ("64:ff9b::7f00:1", Class::Translated),
        ("64:ff9b:1::7f00:1", Class::Translated),
        ("2001:0:1::1", Class::Translated),
        ("2002:7f00:1::", Class::Translated),
        ("192.88.99.1", Class::Translated),
        ("2001:2::1", Class::Reserved),
        ("2001:10::1", Class::Reserved),
    ] {
        assert_eq!(classify(text.parse::<IpAddr>().unwrap()), class, "{text}");
    }
}

async fn get(outbound: &Outbound, url: &str, trust: Trust) -> Error {
    let url = Url::parse(url).unwrap();
    let error = outbound.get(&url, trust, &["application/json"], DEFAULT_MAX).await.unwrap_err();
    assert_eq!(error.to_string(), "the address could not be fetched", "one text for all");
    error
}

#[tokio::test]
async fn strangers_lead_only_to_port_443_of_the_public_internet() {
    let outbound = Outbound::new(&config::Outbound::default()).unwrap();
    for url in [
        "http://example.com/",
        "ftp://example.com/",
        "https://example.com:8443/",
        "https://user@example.com/",
        "https://:secret@example.com/",
        "data:text/plain,x",
    ] {
        assert_eq!(get(&outbound, url, Trust::Stranger).await, Error::Address, "{url}");
    }
    for (url, class) in [
        ("https://127.0.0.1/", Class::Local),
        ("https://2130706433/", Class::Local),
        ("https://0x7f.1/", Class::Local),
        ("https://localhost/", Class::Local),
        ("https://[::ffff:10.0.0.1]/", Class::Translated),
        ("https://169.254.169.254/latest/meta-data/", Class::LinkLocal),
    ] {
        assert_eq!(get(&outbound, url, Trust::Stranger).await, Error::Forbidden(class), "{url}");
        assert_eq!(get(&outbound, url, Trust::Operator).await, Error::Forbidden(class), "{url}");
    }
}

#[tokio::test]
async fn allowed_networks_are_the_operators_alone_and_refused_before_any_byte() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = thread::spawn(move || listener.accept().map(|_| ()));
    let settings = config::Outbound { allow_networks: vec!["127.0.0.0/8".parse().unwrap()], ca_file: None };
    let outbound = Arc::new(Outbound::new(&settings).unwrap());
    assert_eq!(get(&outbound, "https://127.0.0.1/", Trust::Stranger).await, Error::Forbidden(Class::Local));
    assert!(!seen.is_finished(), "nothing was connected");
    let error = get(&outbound, &format!("https://127.0.0.1:{port}/"), Trust::Operator).await;
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    seen.join().unwrap().unwrap();
}

/// A client that may go to this machine and trusts the host's authority.
fn trusting(host: &TlsHost) -> Outbound {
    let allow_networks = vec!["127.0.0.1/32".parse().unwrap()];
    Outbound::new(&config::Outbound { allow_networks, ca_file: Some(host.authority()) }).unwrap()
}

#[tokio::test]
async fn a_document_comes_over_tls_from_a_host_whose_authority_is_trusted() {
    let host = TlsHost::start(&[("/keys?x=1", Behaviour::sends("Application/JSON; charset=utf-8", b"{}"))]).await;
    for name in ["localhost", "127.0.0.1"] {
        let url = Url::parse(&host.url(name, "/keys?x=1#part")).unwrap();
        let fetched = trusting(&host).get(&url, Trust::Operator, &["application/json"], DEFAULT_MAX).await.unwrap();
        assert_eq!((fetched.media_type.as_str(), &*fetched.bytes), ("application/json", &b"{}"[..]), "{name}");
    }
    assert_eq!(host.seen("/keys?x=1"), 2);
    // Without its authority, with another's, and under a name that its certificate does not hold.
    let allow_networks = || vec!["127.0.0.1/32".parse().unwrap()];
    let other = TlsHost::start(&[]).await;
    for ca_file in [None, Some(other.authority())] {
        let outbound = Outbound::new(&config::Outbound { allow_networks: allow_networks(), ca_file }).unwrap();
        let error = get(&outbound, &host.url("localhost", "/keys?x=1"), Trust::Operator).await;
        assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    }
    let error = get(&trusting(&host), &host.url("anything.localhost", "/keys?x=1"), Trust::Operator).await;
    assert!(matches!(error, Error::Unreachable(_) | Error::Unknown), "{error:?}");
    assert_eq!(host.seen("/keys?x=1"), 2, "nothing was asked of a host that is not trusted");
}

#[tokio::test]
async fn every_wrong_answer_has_its_reason_and_none_is_waited_for_longer_than_five_seconds() {
    let host = TlsHost::start(&[
        ("/redirects", Behaviour::Redirects("/png")),
        ("/png", Behaviour::sends("image/png", PNG)),
        ("/never-ends", Behaviour::NeverEnds),
        ("/sleeps", Behaviour::Sleeps),
        ("/stalls", Behaviour::Stalls),
        (
            "/encoded",
            Behaviour::Sends {
                media_type: "application/json",
                headers: "content-encoding: gzip\r\n",
                body: b"\x1f\x8b\x08".to_vec(),
            },
        ),
        ("/long", Behaviour::sends("application/json", &vec![b' '; DEFAULT_MAX + 1])),
        ("/longest", Behaviour::sends("application/json", &vec![b' '; DEFAULT_MAX])),
    ])
    .await;
    let outbound = trusting(&host);
    for (path, reason) in [
        ("/redirects", Error::Status(302)),
        ("/missing", Error::Status(404)),
        ("/png", Error::MediaType),
        ("/encoded", Error::MediaType),
        ("/long", Error::TooLarge),
    ] {
        assert_eq!(get(&outbound, &host.url("127.0.0.1", path), Trust::Operator).await, reason, "{path}");
    }
    let url = Url::parse(&host.url("127.0.0.1", "/longest")).unwrap();
    assert!(outbound.get(&url, Trust::Operator, &["application/json"], DEFAULT_MAX).await.is_ok());
    let url = |path: &str| Url::parse(&host.url("127.0.0.1", path)).unwrap();
    let (endless, sleeps, stalls) = (url("/never-ends"), url("/sleeps"), url("/stalls"));
    let started = std::time::Instant::now();
    let (endless, sleeps, stalls) = tokio::join!(
        outbound.logo(&endless, Trust::Operator),
        outbound.logo(&sleeps, Trust::Operator),
        outbound.logo(&stalls, Trust::Operator)
    );
    assert_eq!([endless, sleeps, stalls].map(Result::unwrap_err), [Error::TooLarge, Error::Timeout, Error::Timeout]);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[tokio::test]
async fn plain_http_is_for_this_machine_and_for_operators_who_allow_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let allowing = |networks: &[&str]| {
        let allow_networks = networks.iter().map(|network| network.parse().unwrap()).collect();
        Outbound::new(&config::Outbound { allow_networks, ca_file: None }).unwrap()
    };
    let post = async |outbound: Outbound, url: &Url, trust| outbound.post_form(url, trust, "a=b".to_owned()).await;
    let open = || allowing(&["127.0.0.0/8", "10.0.0.0/8", "0.0.0.0/8"]);
    assert_eq!(post(open(), &url, Trust::Stranger).await, Err(Error::Address));
    assert_eq!(post(allowing(&[]), &url, Trust::Operator).await, Err(Error::Forbidden(Class::Local)));
    for elsewhere in ["http://10.0.0.1/", "http://8.8.8.8/", "http://0.0.0.0/"] {
        let elsewhere = Url::parse(elsewhere).unwrap();
        assert_eq!(post(open(), &elsewhere, Trust::Operator).await, Err(Error::Address), "{elsewhere}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nothing was connected");
    listener.set_nonblocking(false).unwrap();
    let server = thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let mut text = String::new();
        while !text.ends_with("a=b") {
            let mut some = [0; 512];
            let read = stream.read(&mut some).unwrap();
            text.push_str(std::str::from_utf8(&some[..read]).unwrap());
        }
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        text
    });
    assert_eq!(post(open(), &url, Trust::Operator).await, Ok(204));
    let text = server.join().unwrap().to_ascii_lowercase();
    assert!(text.starts_with("post / http/1.1\r\n"), "{text}");
    assert!(text.contains("content-type: application/x-www-form-urlencoded\r\n"), "{text}");
    assert!(text.contains("content-length: 3\r\n"), "{text}");
}

#[test]
fn a_wrong_authority_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, "nothing").unwrap();
    let settings = config::Outbound { allow_networks: Vec::new(), ca_file: Some(path) };
    let error = Outbound::new(&settings).unwrap_err().to_string();
    assert!(error.contains("outbound.ca_file") && error.contains("holds no certificate"), "{error}");
}

#[test]
fn logos_are_known_by_their_bytes() {
    assert_eq!(media_type(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
    assert_eq!(media_type(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
    assert_eq!(media_type(b"GIF89a"), Some("image/gif"));
    assert_eq!(media_type(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
    for other in [&b"<svg xmlns"[..], b"RIFF\0\0\0\0WAVE", b"", b"\x89PNG"] {
        assert_eq!(media_type(other), None);
    }
}
