//! Checks of single texts that several objects share: names, addresses, scopes.

use url::{Host, Url};

use super::fault::shown;
use super::fields::line_of_text;
use crate::model::client::is_client_id;

/// A realm's name: part of every address of it.
pub(super) fn realm_name(text: &str) -> Result<String, String> {
    let good = (1..=40).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if good { Ok(text.to_owned()) } else { Err("1 to 40 of a-z, 0-9 and -".to_owned()) }
}

/// A role's or group's name: it may stand in a path and in a list.
pub(super) fn name(text: &str) -> Result<String, String> {
    line_of_text(text, 100)?;
    if text.contains('/') || text.trim() != text {
        return Err(format!("{}: a name has no / and no space at its ends", shown(text)));
    }
    Ok(text.to_owned())
}

/// A `client_id`: RFC 6749 appendix A.1 without the space, which Basic authentication and logs mangle.
pub(super) fn client_id(text: &str) -> Result<String, String> {
    if is_client_id(text) {
        Ok(text.to_owned())
    } else {
        Err("1 to 255 printable ASCII characters without spaces".to_owned())
    }
}

/// A `sub`: OpenID Connect Core 2, at most 255 ASCII characters.
pub(super) fn sub(text: &str) -> Result<String, String> {
    client_id(text)
}

/// A client secret (RFC 6749 appendix A.2). Short ones are allowed for those who move here from
/// elsewhere; what we make ourselves has 256 bits.
pub(super) fn client_secret(text: &str) -> Result<String, String> {
    let good = (8..=255).contains(&text.len()) && text.bytes().all(|b| matches!(b, 0x20..=0x7e));
    if good { Ok(text.to_owned()) } else { Err("a secret has 8 to 255 printable ASCII characters".to_owned()) }
}

/// One scope token: RFC 6749 section 3.3.
pub(super) fn scope_token(text: &str) -> Result<String, String> {
    let good = (1..=128).contains(&text.len()) && text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
    if good {
        Ok(text.to_owned())
    } else {
        Err(format!("{} is not a scope: 1 to 128 printable ASCII characters without space, \" and \\", shown(text)))
    }
}

/// Scopes in one text, separated by single spaces, each once.
pub(super) fn scope(text: &str) -> Result<String, String> {
    let tokens: Vec<&str> = text.split(' ').filter(|token| !token.is_empty()).collect();
    for (place, token) in tokens.iter().enumerate() {
        scope_token(token)?;
        if tokens.iter().take(place).any(|before| before == token) {
            return Err(format!("{token} stands in the scope twice"));
        }
    }
    if text.len() > 4096 {
        return Err("more than 4096 characters".to_owned());
    }
    Ok(tokens.join(" "))
}

/// A page that people are sent to, or that is fetched: https, or http on this machine.
pub(super) fn https(text: &str) -> Result<String, String> {
    let url = absolute(text)?;
    match url.scheme() {
        "https" => Ok(text.to_owned()),
        "http" if is_loopback(&url) => Ok(text.to_owned()),
        _ => Err(format!("{} must begin with https://", shown(text))),
    }
}

/// An origin that may call by script: scheme, host, port, and nothing after it.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let url = absolute(text)?;
    https(text)?;
    let origin = url.origin().ascii_serialization();
    if origin == text { Ok(origin) } else { Err(format!("{} is not an origin; write {origin}", shown(text))) }
}

/// A host as it stands in an address: a name in its ASCII form, or an IP address.
pub(super) fn host(text: &str) -> Result<String, String> {
    match Host::parse(text) {
        Ok(host) if host.to_string() == text => Ok(text.to_owned()),
        Ok(host) => Err(format!("{} is not a host as addresses have it; write {host}", shown(text))),
        Err(_) => Err(format!("{} is not a host such as app.example.com", shown(text))),
    }
}

/// A resource identifier (RFC 8707 section 2): an absolute URI without fragment.
pub(super) fn resource(text: &str) -> Result<String, String> {
    if text.len() > 2048 || text.contains('#') || text.bytes().any(|b| !b.is_ascii_graphic()) {
        return Err("an absolute URI of printable ASCII, without fragment (RFC 8707 section 2)".to_owned());
    }
    Url::parse(text).map_err(|_| format!("{} is not an absolute URI (RFC 8707 section 2)", shown(text)))?;
    Ok(text.to_owned())
}

/// An absolute http or https address in printable ASCII.
fn absolute(text: &str) -> Result<Url, String> {
    if text.len() > 2048 || text.bytes().any(|b| !b.is_ascii_graphic()) {
        return Err("an address of at most 2048 printable ASCII characters".to_owned());
    }
    let url = Url::parse(text).map_err(|_| format!("{} is not an absolute address", shown(text)))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address must not carry a user name or password".to_owned());
    }
    Ok(url)
}

/// Whether a host is this machine for certain.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// An e-mail address: one `@`, a local part, a domain; enough to keep nonsense out, since only a mail
/// that arrives proves an address.
pub(super) fn email(text: &str) -> Result<String, String> {
    let wrong = || format!("{} is not an e-mail address such as alice@example.com", shown(text));
    let (local, domain) = text.rsplit_once('@').ok_or_else(wrong)?;
    let plain = |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_control() || c.is_whitespace() || c == '@');
    let labels = domain.split('.').all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'));
    if text.len() <= 254 && local.len() <= 64 && plain(local) && plain(domain) && labels {
        Ok(text.to_owned())
    } else {
        Err(wrong())
    }
}

/// A language tag (BCP 47), by form only.
pub(super) fn language(text: &str) -> Result<String, String> {
    let good = text.len() <= 35
        && text.split('-').enumerate().all(|(place, part)| {
            (1..=8).contains(&part.len())
                && part.bytes().all(|b| b.is_ascii_alphanumeric())
                && (place > 0 || part.len() > 1 && part.bytes().all(|b| b.is_ascii_alphabetic()))
        });
    if good { Ok(text.to_owned()) } else { Err(format!("{} is not a language such as en or de-CH", shown(text))) }
}

/// A birthday: `YYYY-MM-DD`, `0000-MM-DD` without the year, or `YYYY` (OpenID Connect Core 5.1).
pub(super) fn birthdate(text: &str) -> Result<String, String> {
    let wrong = || format!("{} is not a birthday: YYYY-MM-DD, 0000-MM-DD or YYYY", shown(text));
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        [year] if digits(year, 4) => Ok(text.to_owned()),
        [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2) => {
            let number = |part: &str| part.parse::<u16>().unwrap_or_default();
            let date = u8::try_from(number(month)).ok().and_then(|month| time::Month::try_from(month).ok()).and_then(
                |month| {
                    // Without the year the 29th of February must be possible.
                    let year = if *year == "0000" { 2000 } else { i32::from(number(year)) };
                    time::Date::from_calendar_date(year, month, u8::try_from(number(day)).ok()?).ok()
                },
            );
            date.map(|_| text.to_owned()).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_checked() {
        let table: &[(super::super::fields::Check, &[&str], &[&str])] = &[
            (realm_name, &["main", "a-1"], &["", "Main", "a/b", "a_b"]),
            (client_id, &["web", "https://rp.example/x"], &["", "a b", "é"]),
            (scope, &["openid profile", "", "read:x"], &["openid openid", "a\"b", "a\\b"]),
            (
                https,
                &["https://a.example/x", "http://localhost:3000/", "http://127.0.0.1/"],
                &[
                    "http://a.example/",
                    "javascript:alert(1)",
                    "data:x",
                    "/x",
                    "https://u:p@a.example/",
                    "http://localhost.evil.example/",
                ],
            ),
            (
                origin,
                &["https://a.example", "http://localhost:3000"],
                &["https://a.example/", "https://a.example:443", "null", "*"],
            ),
            (resource, &["https://api.example.com", "urn:example:api"], &["api", "https://a/#x", ""]),
            (
                email,
                &["alice@example.com", "a+b@x", "ü@example.com"],
                &["alice", "@x", "a@", "a b@x", "a@x..y", "a@-x"],
            ),
            (language, &["en", "de-CH", "zh-Hant"], &["e", "deutsch_", "12", ""]),
            (birthdate, &["1990-02-28", "0000-02-29", "1990"], &["1990-02-30", "1990-2-3", "90", "0000-13-01"]),
        ];
        for (check, good, bad) in table {
            for text in *good {
                assert!(check(text).is_ok(), "{text}: {:?}", check(text));
            }
            for text in *bad {
                assert!(check(text).is_err(), "{text}");
            }
        }
    }
}
