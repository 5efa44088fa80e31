//! A web host of the tests' own, with TLS below a test authority: what the server meets when it fetches
//! something itself. Each path behaves in its own way, good or bad, and is counted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A whole PNG: one grey dot.
pub const PNG: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\x0aIDATx\xdach\x00\x00\x00\x82\x00\x81\xdaE\x08;\x00\x00\x00\x00IEND\xaeB`\x82";

/// What a path answers.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// 200 with this media type, further header lines, and body.
    Sends {
        /// `Content-Type`.
        media_type: &'static str,
        /// Each with its line end.
        headers: &'static str,
        /// The body.
        body: Vec<u8>,
    },
    /// 302 to another path of this host.
    Redirects(&'static str),
    /// 200 with a PNG's first bytes, then more and more without ever telling how many.
    NeverEnds,
    /// Takes the request and never answers.
    Sleeps,
    /// 200 with a PNG's head, then nothing.
    Stalls,
    /// 503 at first, then the PNG.
    Recovers,
}

impl Behaviour {
    /// 200 with a body of this type.
    pub fn sends(media_type: &'static str, body: &[u8]) -> Self {
        Self::Sends { media_type, headers: "", body: body.to_vec() }
    }
}

type Seen = Arc<Mutex<BTreeMap<String, usize>>>;

/// The host; gone when dropped.
pub struct TlsHost {
    /// Its port on every local address.
    pub port: u16,
    authority: tempfile::NamedTempFile,
    seen: Seen,
    running: tokio::task::JoinHandle<()>,
}

impl Drop for TlsHost {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl TlsHost {
    /// Starts a host whose paths behave as told; other paths are 404.
    pub async fn start(paths: &[(&'static str, Behaviour)]) -> Self {
        let (authority, acceptor) = certified();
        // Every local address, so that nothing but the guard keeps anybody away from one of them.
        let listener = TcpListener::bind(("0.0.0.0", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Seen::default();
        let paths: Arc<BTreeMap<&'static str, Behaviour>> = Arc::new(paths.iter().cloned().collect());
        let running = tokio::spawn(accept(listener, acceptor, paths, seen.clone()));
        Self { port, authority, seen, running }
    }

    /// The address of a path at `host`, one of `localhost` and the local addresses.
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.port)
    }

    /// The PEM file of its authority.
    pub fn authority(&self) -> PathBuf {
        self.authority.path().to_path_buf()
    }

    /// How often a path was asked for.
    pub fn seen(&self, path: &str) -> usize {
        self.seen.lock().expect("counts").get(path).copied().unwrap_or(0)
    }
}

/// An authority made for this host alone, in a file, and what the host needs to speak TLS.
fn certified() -> (tempfile::NamedTempFile, TlsAcceptor) {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let names = ["localhost", "127.0.0.1", "127.0.0.2"].map(str::to_owned);
    let key = KeyPair::generate().expect("a key");
    let leaf = CertificateParams::new(names).expect("names").signed_by(&key, &ca).expect("a certificate");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), ca.pem()).expect("written");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(leaf.der().to_vec())], key)
        .expect("a server");
    (file, TlsAcceptor::from(Arc::new(config)))
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    paths: Arc<BTreeMap<&'static str, Behaviour>>,
    seen: Seen,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, paths, seen) = (acceptor.clone(), paths.clone(), seen.clone());
        tokio::spawn(async move {
            // Whoever does not trust the authority breaks off here.
            if let Ok(stream) = acceptor.accept(stream).await {
                let _ = answer(stream, &paths, &seen).await;
            }
        });
    }
}

async fn answer(
    mut stream: TlsStream<TcpStream>,
    paths: &BTreeMap<&'static str, Behaviour>,
    seen: &Seen,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut some = [0; 1024];
        match stream.read(&mut some).await? {
            0 => return Ok(()),
            read => head.extend_from_slice(&some[..read]),
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let path = text.split(' ').nth(1).unwrap_or("").to_owned();
    let times = {
        let mut seen = seen.lock().expect("counts");
        let times = seen.entry(path.clone()).or_insert(0);
        *times += 1;
        *times
    };
    let png = || Behaviour::sends("image/png", PNG);
    let behaviour = match paths.get(path.as_str()).cloned() {
        Some(Behaviour::Recovers) if times > 1 => Some(png()),
        other => other,
    };
    match behaviour {
        Some(Behaviour::Sends { media_type, headers, body }) => {
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n{headers}\r\n");
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&body).await?;
        }
        Some(Behaviour::Redirects(to)) => {
            let head = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
        }
        Some(Behaviour::NeverEnds) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n").await?;
            stream.write_all(PNG).await?;
            // Until the other side has had enough.
            while stream.write_all(&[0; 16 * 1024]).await.is_ok() {}
        }
        Some(Behaviour::Sleeps) => stay(&mut stream).await,
        Some(Behaviour::Stalls) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 67\r\n\r\n").await?;
            stream.write_all(&PNG[..8]).await?;
            stay(&mut stream).await;
        }
        Some(Behaviour::Recovers) => {
            stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n").await?;
        }
        None => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await?,
    }
    stream.shutdown().await
}

/// Until the other side hangs up.
async fn stay(stream: &mut TlsStream<TcpStream>) {
    let _ = stream.read(&mut [0; 1]).await;
}
