//! Where the server listens, how it is reached, what it keeps on disk.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use super::key::{Key, Kind};
use super::network::Network;
use super::public_url::PublicUrl;
use super::reader::Reader;
use crate::domain::model::secret::Secret;

const LISTEN_FORM: &str = "`address:port` with an IP address (IPv6 in brackets), or `unix:/path`";

const PUBLIC_URL: Key = Key {
    name: "public_url",
    kind: Kind::Text,
    default: "http://localhost:8080",
    allowed: "`https://host[:port][/path]`; `http` only for a loopback address; no query, no fragment",
    meaning: "The address that browsers and relying parties use: base of every issuer and link",
    secret: false,
};
const LISTEN: Key = Key {
    name: "listen",
    kind: Kind::List,
    default: "127.0.0.1:8080",
    allowed: LISTEN_FORM,
    meaning: "Addresses and sockets that serve the product. A socket's peer is a trusted proxy",
    secret: false,
};
const MANAGEMENT: Key = Key {
    name: "management.listen",
    kind: Kind::Text,
    default: "127.0.0.1:9000",
    allowed: LISTEN_FORM,
    meaning: "Health and metrics; never on a public listener",
    secret: false,
};
const TRUSTED_PROXIES: Key = Key {
    name: "trusted_proxies",
    kind: Kind::List,
    default: "",
    allowed: "networks such as `10.0.0.0/8` or `2001:db8::/32`",
    meaning: "Peers whose `Forwarded` and `X-Forwarded-*` count",
    secret: false,
};
const DATA_DIR: Key = Key {
    name: "data_dir",
    kind: Kind::Text,
    default: "./data",
    allowed: "a folder",
    meaning: "Embedded database and generated master key; with `--dev` its `dev/`",
    secret: false,
};
const MASTER_KEY: Key = Key {
    name: "master_key",
    kind: Kind::Text,
    default: "",
    allowed: "32 random bytes as base64, base64url or hexadecimal text (`openssl rand -base64 32`)",
    meaning: "Wraps every stored secret and private signing key. Generated with a new embedded database; PostgreSQL needs it given",
    secret: true,
};

pub(super) const KEYS: &[&Key] = &[&PUBLIC_URL, &LISTEN, &MANAGEMENT, &TRUSTED_PROXIES, &DATA_DIR, &MASTER_KEY];

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// An address and port.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            // sun_path of unix(7) holds 108 bytes with its end mark.
            let fits = path.starts_with('/') && path.len() > 1 && path.len() < 108;
            return fits
                .then(|| Self::Unix(path.into()))
                .ok_or_else(|| "is not an absolute path under 108 bytes".to_owned());
        }
        text.parse().map(Self::Tcp).map_err(|_| "is not an IP address with a port".to_owned())
    }
}

/// The settings of this section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Base of every issuer and link.
    pub public_url: PublicUrl,
    /// Public listeners.
    pub listen: Vec<Listen>,
    /// Health and metrics.
    pub management: Listen,
    /// Peers whose forwarded headers count.
    pub trusted_proxies: Vec<Network>,
    /// Embedded database and generated master key.
    pub data_dir: PathBuf,
    /// The given master key.
    pub master_key: Option<Secret>,
}

impl Server {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        let dev = reader.dev;
        let public_url = reader.parse(&PUBLIC_URL, PublicUrl::from_str);
        let listen = reader.list(&LISTEN, Listen::from_str);
        let management = reader.parse(&MANAGEMENT, Listen::from_str);
        let trusted_proxies = reader.list(&TRUSTED_PROXIES, Network::from_str);
        let data_dir = reader.parse(&DATA_DIR, |text| Ok(PathBuf::from(text)));
        let master_key = reader.optional(&MASTER_KEY, |text| Ok(Secret::from(text)));
        if let Some(url) = public_url.as_ref().filter(|url| dev && !url.is_loopback()) {
            let fault =
                format!("{:?} is not a loopback address, and --dev serves no other; start without --dev", url.as_str());
            reader.fault(&PUBLIC_URL, fault);
        }
        if listen.as_ref().is_some_and(Vec::is_empty) {
            reader.fault(&LISTEN, "is empty, so nobody could reach the server");
        }
        if let (Some(listen), Some(management)) = (&listen, &management)
            && listen.contains(management)
        {
            reader.fault(&MANAGEMENT, "is a public listener too");
        }
        Some(Self {
            public_url: public_url?,
            listen: if dev { loopback_only(listen?) } else { listen? },
            management: if dev { loopback(management?) } else { management? },
            // --dev refuses forwarded headers (`security-design` rule 29).
            trusted_proxies: if dev { Vec::new() } else { trusted_proxies? },
            data_dir: if dev { data_dir?.join("dev") } else { data_dir? },
            master_key: master_key?,
        })
    }

    /// A database that the server does not make itself has no key of its own either.
    pub(super) fn require_master_key(&self, reader: &mut Reader) {
        if self.master_key.is_none() {
            reader.fault(&MASTER_KEY, "is needed with PostgreSQL: it is generated only with an embedded database");
        }
    }
}

/// The same port on the loopback interface; a Unix socket stays where it is.
fn loopback(listen: Listen) -> Listen {
    match listen {
        Listen::Tcp(address) if address.ip().is_loopback() => Listen::Tcp(address),
        Listen::Tcp(address) => {
            let ip = if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { IpAddr::V6(Ipv6Addr::LOCALHOST) };
            Listen::Tcp(SocketAddr::new(ip, address.port()))
        }
        Listen::Unix(path) => Listen::Unix(path),
    }
}

/// `--dev` binds the loopback interface whatever `listen` says, and no socket, whose peer would be
/// believed as a proxy.
fn loopback_only(listen: Vec<Listen>) -> Vec<Listen> {
    let mut kept: Vec<Listen> = Vec::new();
    for entry in listen.into_iter().filter(|entry| matches!(entry, Listen::Tcp(_))).map(loopback) {
        if !kept.contains(&entry) {
            kept.push(entry);
        }
    }
    if kept.is_empty() {
        kept.push(Listen::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 8080)));
    }
    kept
}
