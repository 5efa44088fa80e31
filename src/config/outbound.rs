//! Requests that the server makes itself.

use std::path::PathBuf;
use std::str::FromStr;

use super::key::{Key, Kind};
use super::network::Network;
use super::reader::Reader;

const ALLOW: Key = Key {
    name: "outbound.allow_networks",
    kind: Kind::List,
    default: "",
    allowed: "networks such as `10.0.0.0/8` or `2001:db8::/32`",
    meaning: "Networks besides the public internet that addresses set by operators or administrators may lead to; with `--dev` this machine too",
    secret: false,
};
const CA_FILE: Key = Key {
    name: "outbound.ca_file",
    kind: Kind::Text,
    default: "",
    allowed: "a PEM file of certificates",
    meaning: "Certificate authorities trusted besides the public ones",
    secret: false,
};

const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];

pub(super) const KEYS: &[&Key] = &[&ALLOW, &CA_FILE];

/// The settings of this section.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outbound {
    /// Networks besides the public internet.
    pub allow_networks: Vec<Network>,
    /// Certificate authorities besides the public ones.
    pub ca_file: Option<PathBuf>,
}

impl Outbound {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        let allow_networks = reader.list(&ALLOW, Network::from_str);
        let ca_file = reader.optional(&CA_FILE, |text| Ok(PathBuf::from(text)));
        let mut allow_networks = allow_networks?;
        if reader.dev {
            // What a developer runs beside it is on this machine.
            allow_networks.extend(LOOPBACK.iter().filter_map(|network| network.parse::<Network>().ok()));
        }
        Some(Self { allow_networks, ca_file: ca_file? })
    }
}
