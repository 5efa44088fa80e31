//! The `resource` parameter at the token endpoint: RFC 8707 sections 2 and 2.2.
//!
//! Tokens carry the registered spelling. An empty path and `/` of the same origin are one place
//! (RFC 3986 section 6.2.3), since clients add a slash to addresses without a path; no deeper path is
//! ever stripped.

use super::scope::OPENID;
use crate::model::resource::Resource;
use crate::protocol::refusal::{OauthCode, Refusal};
pub use crate::protocol::resource::is_same;

/// Longest value that is looked at, and most values in one request.
const RESOURCE_MAX: usize = 2048;
const RESOURCES_MAX: usize = 20;

/// The asked resources in the spelling of `granted`, each once; empty values count as left out, and
/// nothing asked gives everything granted. What was not granted is `invalid_target`.
pub fn narrow(asked: &[&str], granted: &[String]) -> Result<Vec<String>, Refusal> {
    let asked: Vec<&str> = asked.iter().copied().filter(|value| !value.is_empty()).collect();
    if asked.is_empty() {
        return Ok(granted.to_vec());
    }
    let mut found: Vec<String> = Vec::with_capacity(asked.len());
    if asked.len() > RESOURCES_MAX {
        return Err(target("too many resource values"));
    }
    for value in asked {
        if value.len() > RESOURCE_MAX || value.contains('#') || !value.contains(':') {
            return Err(target("resource must be an absolute URI without a fragment (RFC 8707 section 2)"));
        }
        let known = granted.iter().find(|known| is_same(known, value));
        let known = known.ok_or_else(|| target("a resource was asked for that this grant does not cover"))?;
        if !found.contains(known) {
            found.push(known.clone());
        }
    }
    Ok(found)
}

const fn target(description: &'static str) -> Refusal {
    Refusal::new(OauthCode::InvalidTarget, "resource_not_granted", description)
}

/// What a token is for, and what it may say there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) resources: Vec<String>,
    pub(super) audience: Vec<String>,
    pub(super) scope: Vec<String>,
}

/// Fits scope and audience to the resources of one access token.
///
/// - Without resources the audience is the issuer: the token is for userinfo (decisions, "Audience").
/// - With resources it is they. The issuer joins them only where the request named none and `openid`
///   was granted: an unnarrowed token is good for all that was granted, userinfo included, while a
///   narrowed one is good for exactly what was named.
/// - A scope that only other resources understand is left out (RFC 8707 section 2.2).
pub(super) fn fit(
    asked: &[&str],
    resources: Vec<String>,
    scope: Vec<String>,
    realm: &[Resource],
    issuer: &str,
) -> Target {
    if resources.is_empty() {
        return Target { resources, audience: vec![issuer.to_owned()], scope };
    }
    let is_elsewhere_only = |token: &String| {
        let mut homes = realm.iter().filter(|each| each.scopes.contains(token)).peekable();
        homes.peek().is_some() && !homes.any(|home| resources.contains(&home.identifier))
    };
    let scope: Vec<String> = scope.into_iter().filter(|token| !is_elsewhere_only(token)).collect();
    let mut audience = resources.clone();
    let is_narrowed = asked.iter().any(|value| !value.is_empty());
    if !is_narrowed && scope.iter().any(|token| token == OPENID) {
        audience.push(issuer.to_owned());
    }
    Target { resources, audience, scope }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "https://mcp.example.com";
    const DEEP: &str = "https://mcp.example.com/mcp";

    fn granted() -> Vec<String> {
        vec![HOST.to_owned(), DEEP.to_owned()]
    }

    #[test]
    fn a_root_path_is_no_path_and_deeper_ones_are_kept() {
        let same = [(HOST, "https://mcp.example.com/"), (DEEP, DEEP), ("urn:api", "urn:api")];
        let other = [
            (DEEP, "https://mcp.example.com/mcp/"),
            (HOST, DEEP),
            (HOST, "https://mcp.example.com//"),
            (HOST, "http://mcp.example.com"),
            (HOST, "https://mcp.example.com.evil.example/"),
            ("urn:api", "urn:api/"),
        ];
        for (one, two) in same {
            assert!(is_same(one, two) && is_same(two, one), "{one} {two}");
        }
        for (one, two) in other {
            assert!(!is_same(one, two) && !is_same(two, one), "{one} {two}");
        }
    }

    #[test]
    fn narrowing_is_allowed_and_widening_is_not() {
        assert_eq!(narrow(&[], &granted()), Ok(granted()));
        assert_eq!(narrow(&[""], &granted()), Ok(granted()), "empty counts as left out");
        assert_eq!(narrow(&["https://mcp.example.com/"], &granted()), Ok(vec![HOST.to_owned()]));
        assert_eq!(narrow(&[DEEP, DEEP], &granted()), Ok(vec![DEEP.to_owned()]));
        assert_eq!(narrow(&[DEEP, HOST], &granted()), Ok(vec![DEEP.to_owned(), HOST.to_owned()]));
        let many = vec![HOST; 21];
        let wrong: [&[&str]; 5] = [
            &["https://x.example/"],
            &[HOST, "https://x.example"],
            &["https://mcp.example.com/#f"],
            &["mcp.example.com"],
            &many,
        ];
        for asked in wrong {
            assert_eq!(narrow(asked, &granted()).unwrap_err().code, OauthCode::InvalidTarget, "{asked:?}");
        }
        assert!(narrow(&[HOST], &[]).is_err());
    }
}
