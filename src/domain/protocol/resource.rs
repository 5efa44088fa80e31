//! Resource indicators (RFC 8707 section 2): which protected resource a token is for. Compared as
//! strings, but an empty path equals `/`. Unknown, forbidden and malformed ones are `invalid_target`
//! alike, so that nobody can list what a realm protects.

use std::borrow::Cow;

use super::refusal::{OauthCode, Refusal};
use crate::model::client::Client;
use crate::model::resource::Resource;

/// The resources asked for, in their registered spelling, each once, in the order asked. Only those
/// that the client's `resources` list names may be asked for.
pub fn resolve<'a>(asked: &[&str], client: &Client, resources: &'a [Resource]) -> Result<Vec<&'a Resource>, Refusal> {
    let mut found: Vec<&Resource> = Vec::with_capacity(asked.len());
    for uri in asked {
        let resource = find(uri, client, resources).ok_or(Refusal::new(
            OauthCode::InvalidTarget,
            "resource_unknown",
            "the resource is unknown, malformed or not allowed for this client",
        ))?;
        if !found.iter().any(|other| other.identifier == resource.identifier) {
            found.push(resource);
        }
    }
    Ok(found)
}

/// The resources that a client may ask for.
pub fn allowed<'a>(client: &Client, resources: &'a [Resource]) -> impl Iterator<Item = &'a Resource> + Clone {
    resources
        .iter()
        .filter(move |resource| client.metadata.resources.iter().any(|own| is_same(own, &resource.identifier)))
}

/// Whether two spellings name one resource.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    key(one).is_some_and(|one| key(other).is_some_and(|other| one == other))
}

fn find<'a>(uri: &str, client: &Client, resources: &'a [Resource]) -> Option<&'a Resource> {
    allowed(client, resources).find(|resource| is_same(uri, &resource.identifier))
}

/// The text with an empty path written as `/`; `None` when it is no absolute URI without fragment.
fn key(uri: &str) -> Option<Cow<'_, str>> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme || rest.is_empty() || !uri.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return None;
    }
    let Some(hierarchy) = rest.strip_prefix("//") else { return Some(Cow::Borrowed(uri)) };
    let authority = hierarchy.split(['/', '?']).next().unwrap_or_default();
    let path = hierarchy.strip_prefix(authority)?;
    if authority.is_empty() {
        return None;
    }
    Some(if path.starts_with('/') { Cow::Borrowed(uri) } else { Cow::Owned(format!("{scheme}://{authority}/{path}")) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::authorize::example;

    #[test]
    fn an_empty_path_equals_a_slash_and_the_registered_spelling_comes_out() {
        let (client, resources) = (example::client(), example::resources());
        for asked in [&["https://orders.example"][..], &["https://orders.example/", "https://orders.example"][..]] {
            let found = resolve(asked, &client, &resources).unwrap();
            assert_eq!(
                found.iter().map(|found| found.identifier.as_str()).collect::<Vec<_>>(),
                ["https://orders.example/"]
            );
        }
        assert!(resolve(&[], &client, &resources).unwrap().is_empty());
    }

    #[test]
    fn all_else_is_invalid_target() {
        let (client, resources) = (example::client(), example::resources());
        for asked in [
            "https://orders.example/#f",
            "https://orders.example/x",
            "https://orders.example?x",
            "https://ORDERS.example/",
            "http://orders.example/",
            "https://unknown.example/",
            "https://stock.example/",
            "orders.example",
            "orders",
            "https://",
            ":",
        ] {
            let refusal = resolve(&[asked], &client, &resources).unwrap_err();
            assert_eq!((refusal.code, refusal.reason), (OauthCode::InvalidTarget, "resource_unknown"), "{asked}");
        }
    }

    #[test]
    fn only_an_empty_path_is_folded() {
        assert!(is_same("https://a.example?x=1", "https://a.example/?x=1"));
        assert!(is_same("urn:example:a", "urn:example:a"));
        assert!(!is_same("https://a.example/b", "https://a.example/b/"));
        assert!(!is_same("a", "a"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_only_the_slash_differs(one in "https://a[b/?#:]{0,4}", other in "https://a[b/?#:]{0,4}") {
            if is_same(&one, &other) {
                prop_assert!(one == other || one.replace('/', "") == other.replace('/', ""));
            }
        }
    }
}
