//! TLS of the public TCP listeners. Unix sockets stay plain: only a local proxy can be there.

use std::path::PathBuf;

use super::key::{Key, Kind};
use super::reader::Reader;
use super::server::Server;

const CERTIFICATE: Key = Key {
    name: "tls.certificate",
    kind: Kind::Text,
    default: "",
    allowed: "a PEM file: the server's certificate, then those that signed it; together with `tls.key`",
    meaning: "With it, every TCP address of `listen` speaks TLS 1.2 and 1.3. The file is read again when it changes, and on SIGHUP",
    secret: false,
};
const KEY: Key = Key {
    name: "tls.key",
    kind: Kind::Text,
    default: "",
    allowed: "a PEM file that only the server's user may read; together with `tls.certificate`",
    meaning: "The certificate's private key",
    secret: false,
};
const ASK: Key = Key {
    name: "tls.request_client_certificate",
    kind: Kind::Boolean,
    default: "false",
    allowed: "`true` or `false`",
    meaning: "Asks each client for a certificate without demanding one. Browsers that hold some may ask their person which",
    secret: false,
};

pub(super) const KEYS: &[&Key] = &[&CERTIFICATE, &KEY, &ASK];

/// The settings of this section, when TLS is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Whether clients are asked for a certificate.
    pub request_client_certificate: bool,
}

impl Tls {
    /// `Some(None)`: no TLS here.
    pub(super) fn read(reader: &mut Reader, server: Option<&Server>) -> Option<Option<Self>> {
        let path = |text: &str| Ok(PathBuf::from(text));
        let certificate = reader.optional(&CERTIFICATE, path)?;
        let key = reader.optional(&KEY, path)?;
        let request_client_certificate = reader.boolean(&ASK)?;
        let (certificate, key) = match (certificate, key) {
            (Some(certificate), Some(key)) => (certificate, key),
            (None, None) => return Some(None),
            (Some(_), None) => {
                reader.fault(&KEY, "is not set, though tls.certificate is");
                return None;
            }
            (None, Some(_)) => {
                reader.fault(&CERTIFICATE, "is not set, though tls.key is");
                return None;
            }
        };
        if server.is_some_and(|server| !server.public_url.is_https()) {
            reader.fault(
                &CERTIFICATE,
                "is set, but public_url begins with http: browsers would be sent where nobody answers",
            );
            return None;
        }
        Some(Some(Self { certificate, key, request_client_certificate }))
    }
}
