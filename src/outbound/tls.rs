//! Whom we trust: the public certificate authorities, and those of `outbound.ca_file`.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::error::StartError;

/// The connector; names its cryptographic provider, because two are compiled in.
pub(super) fn connector(ca_file: Option<&Path>) -> Result<TlsConnector, StartError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(file) = ca_file {
        add(&mut roots, file).map_err(|fault| StartError { file: file.to_owned(), fault })?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StartError { file: ca_file.unwrap_or(Path::new("")).to_owned(), fault: error.to_string() })?;
    let mut config = versions.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn add(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let before = roots.len();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())? {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.len() == before { Err("holds no certificate".to_owned()) } else { Ok(()) }
}
