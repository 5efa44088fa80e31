//! TLS on the public listeners: what is spoken, what is refused, and a certificate that is replaced while the
//! server runs (`decisions`, TLS; `security` row 1 and F32).

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::client::WantsClientCert;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::kit::op::REALM;
use crate::kit::process::{Doorward, pause};

struct Authority {
    ca: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { ca: CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority") }
    }

    /// Writes a new pair for `host` to the server's files.
    fn issue(&self, server: &Doorward, host: &str) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate().expect("a key");
        let leaf =
            CertificateParams::new([host.to_owned()]).expect("a name").signed_by(&key, &self.ca).expect("signed");
        let (certificate, private) = (server.folder().join("tls.pem"), server.folder().join("tls.key"));
        std::fs::write(&private, key.serialize_pem()).expect("written");
        std::fs::write(&certificate, leaf.pem()).expect("written");
        (certificate, private)
    }

    fn client(&self) -> ClientConfig {
        self.trusting().with_no_client_auth()
    }

    /// Trusts this authority alone.
    fn trusting(&self) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.ca.der().to_vec())).expect("a root");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        versions.expect("versions").with_root_certificates(roots)
    }
}

/// Configured for TLS, not started yet.
async fn prepared(authority: &Authority) -> Doorward {
    let mut server = Doorward::prepare().await;
    let (certificate, key) = authority.issue(&server, "localhost");
    let issuer = format!("https://localhost:{}", server.port());
    server.set("DOORWARD_PUBLIC_URL", &issuer);
    server.set("DOORWARD_TLS__CERTIFICATE", &certificate.display().to_string());
    server.set("DOORWARD_TLS__KEY", &key.display().to_string());
    server.apply(REALM);
    server
}

async fn connect(server: &Doorward, config: ClientConfig) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", server.port())).await.expect("a listener");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// The certificate that is shown now.
async fn shown(server: &Doorward, authority: &Authority) -> CertificateDer<'static> {
    let stream = connect(server, authority.client()).await.expect("a handshake");
    let certificates = stream.get_ref().1.peer_certificates().expect("certificates");
    certificates.first().expect("one").clone().into_owned()
}

async fn metric(server: &Doorward, name: &str) -> u64 {
    let address = format!("{}/metrics", server.management());
    let text = openidconnect::reqwest::get(address).await.expect("metrics").text().await.expect("text");
    let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).expect("the metric");
    line.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[tokio::test]
async fn http_2_and_1_1_are_spoken_over_tls() {
    let authority = Authority::new();
    let mut server = prepared(&authority).await;
    server.start().await;
    let issuer = format!("https://localhost:{}", server.port());
    let address = format!("{issuer}/.well-known/openid-configuration");
    for protocol in [&b"h2"[..], b"http/1.1"] {
        let mut config = authority.client();
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = connect(&server, config).await.expect("a handshake");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol));
        let request = http::Request::get(&address).header("host", issuer.trim_start_matches("https://"));
        let request = request.body(Empty::<Bytes>::new()).expect("a request");
        let answer = if protocol == b"h2" {
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                    .await
                    .expect("HTTP/2");
            tokio::spawn(connection);
            sender.send_request(request).await.expect("an answer")
        } else {
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
            tokio::spawn(connection);
            sender.send_request(request).await.expect("an answer")
        };
        assert_eq!(answer.status(), 200);
        let expected = "max-age=63072000; includeSubDomains";
        assert_eq!(answer.headers()["strict-transport-security"], expected);
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        let document: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(document["issuer"], issuer);
    }
    assert!(server.terminate().await.success(), "open connections do not keep it");
}

/// What Debian's OpenSSL achieves with these options: the suite, or nothing.
fn openssl(server: &Doorward, options: &[&str]) -> Option<String> {
    let at = format!("127.0.0.1:{}", server.port());
    let output = Command::new("openssl")
        .args(["s_client", "-connect", &at, "-servername", "localhost", "-brief"])
        .args(options)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("openssl runs");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    said.lines().find_map(|line| line.strip_prefix("Ciphersuite: ").map(str::to_owned))
}

#[tokio::test]
async fn nothing_old_or_without_forward_secrecy_is_spoken() {
    let authority = Authority::new();
    let mut server = prepared(&authority).await;
    server.start().await;
    let all = "ALL:@SECLEVEL=0";
    assert_eq!(openssl(&server, &["-tls1_3"]).as_deref(), Some("TLS_AES_256_GCM_SHA384"));
    let suite = "ECDHE-ECDSA-AES128-GCM-SHA256";
    assert_eq!(openssl(&server, &["-tls1_2", "-cipher", suite]).as_deref(), Some(suite));
    for refused in [
        &["-tls1", "-cipher", all][..],
        &["-tls1_1", "-cipher", all],
        &["-tls1_2", "-cipher", "AES128-GCM-SHA256:AES256-SHA:@SECLEVEL=0"],
        &["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"],
        &["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"],
    ] {
        assert_eq!(openssl(&server, refused), None, "{refused:?}");
    }
    // Who speaks no TLS at all is not answered, and harms nobody.
    let plain = openidconnect::reqwest::get(format!("http://127.0.0.1:{}/", server.port())).await;
    assert!(plain.is_err());
    shown(&server, &authority).await;
}

#[tokio::test]
async fn a_new_certificate_is_taken_without_a_restart_and_a_broken_one_is_not() {
    let authority = Authority::new();
    let mut server = prepared(&authority).await;
    server.start().await;
    let first = shown(&server, &authority).await;

    // By the change of the files alone.
    let (certificate, key) = authority.issue(&server, "localhost");
    let mut second = shown(&server, &authority).await;
    for _ in 0..200 {
        if second != first {
            break;
        }
        pause(Duration::from_millis(50)).await;
        second = shown(&server, &authority).await;
    }
    assert_ne!(first, second);

    // At once by SIGHUP; what cannot be used changes nothing and is told.
    for broken in ["", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"] {
        let before = metric(&server, "doorward_tls_reload_failures_total").await;
        std::fs::write(&certificate, broken).expect("written");
        server.signal("HUP");
        while metric(&server, "doorward_tls_reload_failures_total").await == before {
            pause(Duration::from_millis(20)).await;
        }
        assert_eq!(shown(&server, &authority).await, second);
    }
    assert!(server.log().contains("the old one stays"), "{}", server.log());
    let (_, other_key) = authority.issue(&server, "localhost");
    assert_eq!(other_key, key);
    server.signal("HUP");
    for _ in 0..200 {
        if shown(&server, &authority).await != second {
            break;
        }
        pause(Duration::from_millis(20)).await;
    }
    assert_ne!(shown(&server, &authority).await, second);
    assert!(server.terminate().await.success());
}

#[tokio::test]
async fn a_client_certificate_is_asked_for_only_when_it_is_wanted_and_never_demanded() {
    let authority = Authority::new();
    let mut server = prepared(&authority).await;
    let own = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new(["client".to_owned()]).expect("a name").self_signed(&own).expect("signed");
    for wanted in [false, true] {
        server.set("DOORWARD_TLS__REQUEST_CLIENT_CERTIFICATE", &wanted.to_string());
        server.start().await;
        let asked = Command::new("openssl")
            .args(["s_client", "-connect", &format!("127.0.0.1:{}", server.port()), "-tls1_2"])
            .stdin(std::process::Stdio::null())
            .output()
            .expect("openssl runs");
        let said = String::from_utf8_lossy(&asked.stdout).into_owned();
        assert_eq!(said.contains("Client Certificate Types"), wanted, "{said}");
        shown(&server, &authority).await;
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.serialize_der()));
        let config = authority
            .trusting()
            .with_client_auth_cert(vec![CertificateDer::from(certificate.der().to_vec())], private)
            .expect("a client");
        connect(&server, config).await.expect("a handshake with a certificate that nobody signed");
        assert!(server.terminate().await.success());
    }
}

#[tokio::test]
async fn wrong_files_end_the_start_with_what_to_change() {
    let authority = Authority::new();
    let mut server = prepared(&authority).await;
    let port = server.port();
    let (certificate, key) = authority.issue(&server, "localhost");
    let (kept, kept_key) = (std::fs::read(&certificate).expect("read"), std::fs::read(&key).expect("read"));

    server.set("DOORWARD_TLS__KEY", "");
    server.refused(&[]).says(78, &["tls.key", "is not set"]);
    server.set("DOORWARD_TLS__KEY", &key.display().to_string());
    server.set("DOORWARD_PUBLIC_URL", &format!("http://localhost:{port}"));
    server.refused(&[]).says(78, &["tls.certificate", "public_url"]);
    server.set("DOORWARD_PUBLIC_URL", &format!("https://localhost:{port}"));

    std::fs::remove_file(&key).expect("removed");
    server.refused(&[]).says(78, &["tls.key", "tls.key"]);
    authority.issue(&server, "localhost");
    std::fs::write(&certificate, &kept).expect("written");
    server.refused(&[]).says(78, &["is not the key of the certificate", "issued together"]);
    std::fs::write(&key, &kept_key).expect("written");
    std::fs::write(&certificate, "").expect("written");
    server.refused(&[]).says(78, &["holds no certificate"]);

    authority.issue(&server, "elsewhere.example");
    let output = server.command(&["doctor"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("BAD  TLS certificate") && said.contains("not made out for localhost"), "{said}");
    authority.issue(&server, "localhost");
    let said = String::from_utf8_lossy(&server.command(&["doctor"]).stdout).into_owned();
    assert!(said.contains("ok   TLS certificate"), "{said}");
}
