//! TLS of the listeners: 1.2 with the four ECDHE AES-GCM suites, and 1.3 (`decisions`, `security` row 1). The
//! certificate is read again when its files change and on SIGHUP; a new one that cannot be used is refused
//! with an alarm, and the old one stays.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{self, cipher_suite};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::client_certificate::AnyCertificate;
use crate::config::Tls;
use crate::observe::metrics::metrics;

/// How often the files are looked at. A change counts once two looks agree on it: certificate and key are
/// rarely replaced in the same moment.
const LOOK: Duration = Duration::from_secs(2);

/// What the listeners need, and the certificate that they show.
pub fn acceptor(settings: &Tls) -> Result<(TlsAcceptor, Arc<Certificate>), String> {
    let provider = Arc::new(provider());
    let certificate = Arc::new(Certificate::read(settings, provider.clone())?);
    let versions = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("tls: {error}"))?;
    let clients = if settings.request_client_certificate {
        versions.with_client_cert_verifier(Arc::new(AnyCertificate::new(provider)))
    } else {
        versions.with_no_client_auth()
    };
    let mut config = clients.with_cert_resolver(certificate.clone());
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), certificate))
}

/// The suites that were decided; each gives forward secrecy.
fn provider() -> CryptoProvider {
    let cipher_suites = vec![
        cipher_suite::TLS13_AES_256_GCM_SHA384,
        cipher_suite::TLS13_AES_128_GCM_SHA256,
        cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        cipher_suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ];
    CryptoProvider { cipher_suites, ..aws_lc_rs::default_provider() }
}

/// The certificate with its key, as it is shown now.
#[derive(Debug)]
pub struct Certificate {
    files: Tls,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl Certificate {
    fn read(files: &Tls, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let current = RwLock::new(Arc::new(load(files, &provider)?));
        Ok(Self { files: files.clone(), provider, current })
    }

    /// Reads the files again. What cannot be used changes nothing.
    ///
    /// # Errors
    /// Which file, what is wrong, and what to do.
    pub fn reload(&self) -> Result<(), String> {
        let fresh = Arc::new(load(&self.files, &self.provider)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Whether it is made out for this host, a name or an address.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Ok(name) = ServerName::try_from(host.trim_matches(['[', ']']).to_owned()) else { return false };
        let parsed = current.end_entity_cert().and_then(ParsedCertificate::try_from);
        parsed.is_ok_and(|certificate| verify_server_name(&certificate, &name).is_ok())
    }

    fn reload_aloud(&self) {
        match self.reload() {
            Ok(()) => tracing::info!(file = %self.files.certificate.display(), "the TLS certificate was read again"),
            Err(fault) => {
                metrics().tls_reload_failures.inc();
                tracing::error!(fault, "the TLS certificate could not be replaced; the old one stays");
            }
        }
    }

    fn stamp(&self) -> (Stamp, Stamp) {
        (stamp(&self.files.certificate), stamp(&self.files.key))
    }

    /// Follows the files and SIGHUP until `stop`.
    pub async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
        let mut look = tokio::time::interval(LOOK);
        let (mut used, mut seen) = (self.stamp(), self.stamp());
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = hangup.recv() => {
                    used = self.stamp();
                    self.reload_aloud();
                }
                _ = look.tick() => {
                    let now = self.stamp();
                    if now == seen && now != used {
                        used = now;
                        self.reload_aloud();
                    }
                    seen = now;
                }
            }
        }
    }
}

/// What tells one state of a file from the next; `None` = not there.
type Stamp = Option<(u64, u64, i64, i64)>;

fn stamp(path: &Path) -> Stamp {
    let of = |found: Metadata| (found.ino(), found.size(), found.mtime(), found.mtime_nsec());
    std::fs::metadata(path).ok().map(of)
}

fn load(files: &Tls, provider: &CryptoProvider) -> Result<CertifiedKey, String> {
    let (certificate, key) = (files.certificate.display(), files.key.display());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&files.certificate).and_then(Iterator::collect);
    let chain =
        chain.map_err(|error| format!("tls.certificate {certificate}: {error}. It must be a readable PEM file"))?;
    if chain.is_empty() {
        return Err(format!(
            "tls.certificate {certificate} holds no certificate: it must be a PEM file with the server's own first"
        ));
    }
    let private = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| format!("tls.key {key}: {error}. It must be a readable PEM file with one private key"))?;
    CertifiedKey::from_der(chain, private, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("tls.key {key} is not the key of the certificate in {certificate}: put the pair that was issued together")
        }
        error => format!("tls.certificate {certificate} with tls.key {key}: {error}"),
    })
}
