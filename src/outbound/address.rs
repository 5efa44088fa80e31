//! What kind of address it is, by the registries of special-purpose addresses (RFC 6890 and IANA's
//! tables for IPv4 and IPv6). Only [`Class::Global`] is the public internet. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kinds that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Global unicast: a host of the public internet.
    Global,
    /// This machine, or no address at all.
    Local,
    /// A private network (RFC 1918, RFC 4193).
    Private,
    /// This link (RFC 3927, RFC 4291), where most clouds keep their metadata.
    LinkLocal,
    /// A provider's network (RFC 6598).
    Shared,
    /// A cloud's own service at an otherwise public address.
    Metadata,
    /// An IPv4 address in IPv6 clothes: mapped, NAT64, 6to4, Teredo. What it leads to is not what it says.
    Translated,
    /// Many receivers (RFC 5771, RFC 4291).
    Multicast,
    /// For documents and measurements (RFC 5737, RFC 3849, RFC 9637, RFC 2544).
    Documentation,
    /// Everything else that is no host's.
    Reserved,
}

/// First match counts.
const V4: &[(Ipv4Addr, u32, Class)] = &[
    (Ipv4Addr::new(168, 63, 129, 16), 32, Class::Metadata),
    (Ipv4Addr::new(0, 0, 0, 0), 8, Class::Local),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Class::Local),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Class::Private),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Class::Private),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Class::Private),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Class::LinkLocal),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Class::Shared),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Class::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Class::Documentation),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Class::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Class::Documentation),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Class::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Class::Translated),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Class::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Class::Reserved),
];

const fn v6(a: u16, b: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0)
}

/// First match counts; what matches nothing is reserved, since only 2000::/3 is given out.
const V6: &[(Ipv6Addr, u32, Class)] = &[
    (Ipv6Addr::LOCALHOST, 128, Class::Local),
    (Ipv6Addr::UNSPECIFIED, 128, Class::Local),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, Class::Translated),
    (Ipv6Addr::UNSPECIFIED, 96, Class::Translated),
    (v6(0x64, 0xff9b), 32, Class::Translated),
    (v6(0xfc00, 0), 7, Class::Private),
    (v6(0xfe80, 0), 10, Class::LinkLocal),
    (v6(0xfec0, 0), 10, Class::Private),
    (v6(0xff00, 0), 8, Class::Multicast),
    (v6(0x2001, 0), 32, Class::Translated),
    (v6(0x2001, 0), 23, Class::Reserved),
    (v6(0x2001, 0xdb8), 32, Class::Documentation),
    (v6(0x2002, 0), 16, Class::Translated),
    (v6(0x3fff, 0), 20, Class::Documentation),
    (v6(0x2000, 0), 3, Class::Global),
];

/// The kind of `address`.
#[must_use]
pub fn classify(address: IpAddr) -> Class {
    match address {
        IpAddr::V4(address) => {
            let within = |network: Ipv4Addr, prefix| (network.to_bits() ^ address.to_bits()).leading_zeros() >= prefix;
            let row = V4.iter().find(|(network, prefix, _)| within(*network, *prefix));
            row.map_or(Class::Global, |(_, _, class)| *class)
        }
        IpAddr::V6(address) => {
            let within = |network: Ipv6Addr, prefix| (network.to_bits() ^ address.to_bits()).leading_zeros() >= prefix;
            let row = V6.iter().find(|(network, prefix, _)| within(*network, *prefix));
            row.map_or(Class::Reserved, |(_, _, class)| *class)
        }
    }
}
