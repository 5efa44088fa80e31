//! The client's address behind trusted proxies (RFC 7239; B-28): the right-most hop that no trusted
//! proxy wrote. Headers of strangers count for nothing.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

use crate::config::network::Network;

/// Where the connection came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Over TCP.
    Tcp(SocketAddr),
    /// Over a Unix socket: only a local proxy can be there, so it is trusted.
    Unix,
}

/// The client's address. `None` = a trusted local proxy that names nobody.
#[must_use]
pub fn client_address(peer: Peer, headers: &HeaderMap, trusted: &[Network]) -> Option<IpAddr> {
    let own = match peer {
        Peer::Tcp(socket) => Some(socket.ip().to_canonical()),
        Peer::Unix => None,
    };
    if own.is_some_and(|ip| !trusted.iter().any(|net| net.contains(ip))) {
        return own;
    }
    let mut nearest = own;
    for hop in hops(headers).into_iter().rev() {
        // An unreadable hop ends the chain: what lies left of it is a stranger's word.
        let Some(ip) = parse_hop(&hop) else { break };
        nearest = Some(ip);
        if !trusted.iter().any(|net| net.contains(ip)) {
            break;
        }
    }
    nearest
}

/// The hops that proxies wrote, first is farthest. `Forwarded` wins over `X-Forwarded-For`.
fn hops(headers: &HeaderMap) -> Vec<String> {
    let mut hops = Vec::new();
    for value in headers.get_all("forwarded").iter().filter_map(|value| value.to_str().ok()) {
        for element in value.split(',') {
            let word = element.split(';').find_map(|pair| {
                let (key, value) = pair.trim().split_once('=')?;
                key.eq_ignore_ascii_case("for").then(|| value.trim().trim_matches('"').to_owned())
            });
            hops.push(word.unwrap_or_default());
        }
    }
    if hops.is_empty() {
        for value in headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()) {
            hops.extend(value.split(',').map(|hop| hop.trim().to_owned()));
        }
    }
    hops
}

/// Reads `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:443`.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let ip = text
        .parse::<IpAddr>()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
        .or_else(|| text.strip_prefix('[')?.strip_suffix(']')?.parse().ok())?;
    Some(ip.to_canonical())
}

/// Whether the peer itself may speak for others.
#[must_use]
pub fn is_trusted(peer: Peer, trusted: &[Network]) -> bool {
    match peer {
        Peer::Unix => true,
        Peer::Tcp(socket) => trusted.iter().any(|net| net.contains(socket.ip())),
    }
}
