//! Scopes (RFC 6749 section 3.3, OpenID Connect Core 5.4 and 11): a set written as a list. Order and
//! repeats never matter. An unknown scope is left out as long as something known remains, and the token
//! response then names what was granted.

use super::refusal::{OauthCode, Refusal};
use crate::model::client::Client;
use crate::model::client::GrantType;
use crate::model::resource::Resource;
use crate::model::scope::Scope;

/// An ID token is asked for.
pub const OPENID: &str = "openid";
/// A refresh family that survives the session is asked for.
pub const OFFLINE_ACCESS: &str = "offline_access";
/// The `roles` claim is asked for.
pub const ROLES: &str = "roles";
/// The `groups` claim is asked for.
pub const GROUPS: &str = "groups";

/// Scopes that each realm knows, in the order of discovery; resources add their own.
pub const STANDARD: [&str; 8] = [OPENID, "profile", "email", "address", "phone", OFFLINE_ACCESS, ROLES, GROUPS];

/// Scopes of one request at most.
const COUNT_MAX: usize = 100;

/// Whether the text is a scope token: `%x21 / %x23-5B / %x5D-7E`, one or more.
#[must_use]
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

/// Reads a list: each scope once, in the order of its first mention. Spaces at the ends or doubled
/// inside, which many clients send, mean nothing.
pub fn parse(text: &str) -> Result<Vec<String>, Refusal> {
    let mut scopes: Vec<String> = Vec::new();
    for token in text.split(' ').filter(|token| !token.is_empty()) {
        if !is_token(token) {
            return Err(Refusal::new(
                OauthCode::InvalidScope,
                "scope_malformed",
                "scope holds a character that RFC 6749 section 3.3 does not allow",
            ));
        }
        if scopes.iter().any(|scope| scope == token) {
            continue;
        }
        if scopes.len() == COUNT_MAX {
            return Err(Refusal::new(OauthCode::InvalidScope, "scope_too_many", "scope holds more than 100 scopes"));
        }
        scopes.push(token.to_owned());
    }
    Ok(scopes)
}

/// Writes a list.
#[must_use]
pub fn write(scopes: &[String]) -> String {
    scopes.join(" ")
}

/// Whether two lists mean the same set.
#[must_use]
pub fn is_same(one: &[String], other: &[String]) -> bool {
    one.iter().all(|scope| other.contains(scope)) && other.iter().all(|scope| one.contains(scope))
}

/// What a request may name beside the standard scopes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// The resources in question.
    pub in_question: &'a [&'a Resource],
    /// Every resource of the realm.
    pub resources: &'a [Resource],
    /// The scopes of the realm's own.
    pub scopes: &'a [Scope],
}

impl Known<'_> {
    /// A scope that a resource lists is that resource's, though the realm may have words for it; any other of
    /// the realm's own is known everywhere.
    fn has(&self, scope: &str) -> bool {
        let lists = |resource: &Resource| resource.scopes.iter().any(|own| own == scope);
        self.in_question.iter().any(|resource| lists(resource))
            || (self.scopes.iter().any(|own| own.name == scope) && !self.resources.iter().any(lists))
    }
}

/// What may be granted of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grantable {
    /// Each once, in the order asked for; never empty.
    pub scope: Vec<String>,
    /// Whether something was left out.
    pub differs: bool,
}

/// Asked, registered for the client, and known: to the realm or to one of the resources in question, those that
/// the request names or, where it names none, those that the client may name. `offline_access` needs the
/// refresh token grant (Core 11). Nothing left = `invalid_scope`.
pub fn grantable(asked: &[String], client: &Client, known: &Known<'_>) -> Result<Grantable, Refusal> {
    let is_known = |scope: &str| STANDARD.contains(&scope) || known.has(scope);
    let is_registered = |scope: &str| client.metadata.scope.split(' ').any(|own| own == scope);
    let is_usable = |scope: &str| scope != OFFLINE_ACCESS || client.has_grant(GrantType::RefreshToken);
    let allowed = |scope: &&String| is_known(scope) && is_registered(scope) && is_usable(scope);
    let scope: Vec<String> = asked.iter().filter(allowed).cloned().collect();
    if scope.is_empty() {
        return Err(Refusal::new(
            OauthCode::InvalidScope,
            "scope_unknown",
            "none of the scopes asked for is known and registered for this client",
        ));
    }
    let differs = scope.len() != asked.len();
    Ok(Grantable { scope, differs })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::authorize::example;

    fn list(text: &str) -> Vec<String> {
        parse(text).unwrap()
    }

    #[test]
    fn order_repeats_and_spaces_do_not_matter() {
        let one = list("openid offline_access email");
        let other = list(" offline_access  email openid openid ");
        assert!(is_same(&one, &other));
        assert_eq!(other, ["offline_access", "email", "openid"]);
        assert!(!is_same(&one, &list("openid email")));
        assert_eq!(write(&one), "openid offline_access email");
        assert_eq!(list("  "), Vec::<String>::new());
    }

    #[test]
    fn other_characters_are_invalid_scope() {
        for text in ["a\"b", "a\\b", "a\tb", "\u{e9}", "a\nb", "openid a\u{0}"] {
            assert_eq!(parse(text).unwrap_err().code, OauthCode::InvalidScope, "{text:?}");
        }
        let many: Vec<String> = (0..=COUNT_MAX).map(|n| format!("s{n}")).collect();
        assert_eq!(parse(&many.join(" ")).unwrap_err().reason, "scope_too_many");
    }

    #[test]
    fn what_is_unknown_or_not_registered_is_left_out_and_said() {
        let client = example::client();
        let resources = example::resources();
        let in_question: Vec<&Resource> = resources.iter().collect();
        let known = Known { in_question: &in_question, resources: &resources, scopes: &[] };
        for (asked, expected, differs) in [
            ("openid email", "openid email", false),
            ("offline_access email openid openid unknown:x", "offline_access email openid", true),
            ("openid phone", "openid", true),
            ("orders:read openid", "orders:read openid", false),
            ("orders:write openid", "openid", true),
        ] {
            let granted = grantable(&list(asked), &client, &known).unwrap();
            assert_eq!((write(&granted.scope).as_str(), granted.differs), (expected, differs), "{asked}");
        }
        // A scope of a resource that is not in question is unknown.
        let granted = grantable(&list("orders:read openid"), &client, &Known::default()).unwrap();
        assert_eq!(granted.scope, ["openid"]);
    }

    #[test]
    fn a_scope_of_the_realms_own_is_known_unless_it_is_a_resources() {
        let mut client = example::client();
        client.metadata.scope.push_str(" jokes orders:read");
        let own = |name: &str| Scope {
            realm: client.realm,
            id: crate::model::ids::ScopeId::from_bytes([1; 16]),
            name: name.to_owned(),
            terms: crate::model::scope::ScopeTerms::default(),
        };
        let (resources, scopes) = (example::resources(), [own("jokes"), own("orders:read")]);
        let known = Known { in_question: &[], resources: &resources, scopes: &scopes };
        let granted = grantable(&list("openid jokes orders:read"), &client, &known).unwrap();
        assert_eq!(granted.scope, ["openid", "jokes"], "words for a resource's scope do not set it free");
        let lone = Known { resources: &[], ..known };
        let granted = grantable(&list("openid jokes orders:read"), &client, &lone).unwrap();
        assert_eq!(granted.scope, ["openid", "jokes", "orders:read"]);
        // Not registered for the client.
        client.metadata.scope = "openid".to_owned();
        assert_eq!(grantable(&list("openid jokes"), &client, &known).unwrap().scope, ["openid"]);
    }

    #[test]
    fn nothing_left_is_invalid_scope() {
        let client = example::client();
        for asked in ["unknown:x", "phone", "OPENID", ""] {
            assert_eq!(
                grantable(&list(asked), &client, &Known::default()).unwrap_err().reason,
                "scope_unknown",
                "{asked}"
            );
        }
    }

    #[test]
    fn offline_access_needs_the_refresh_token_grant() {
        let mut client = example::client();
        client.metadata.grant_types = vec![GrantType::AuthorizationCode];
        let granted = grantable(&list("openid offline_access"), &client, &Known::default()).unwrap();
        assert_eq!((granted.scope, granted.differs), (list("openid"), true));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_each_scope_comes_once(text in "(openid|email|x|\\PC|[ \\t\"])*") {
            if let Ok(scopes) = parse(&text) {
                prop_assert_eq!(parse(&write(&scopes)), Ok(scopes.clone()));
                for (at, scope) in scopes.iter().enumerate() {
                    prop_assert!(is_token(scope) && !scopes[..at].contains(scope));
                }
            }
        }
    }
}
