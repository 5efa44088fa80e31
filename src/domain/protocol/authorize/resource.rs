//! `resource` (RFC 8707 section 2.1): may repeat; each must be one that this client may ask for.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::refusal::Refusal;
use crate::protocol::resource::resolve;

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let uris = asked.params.many("resource")?;
    let found = resolve(&uris, asked.client, asked.facts.resources)?;
    request.resources = found.into_iter().map(|resource| resource.identifier.clone()).collect();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::example::{refused, request};
    use crate::protocol::refusal::OauthCode;

    #[test]
    fn a_resource_may_repeat_and_keeps_its_registered_spelling() {
        let changes = [("resource", "https://orders.example"), ("resource", "https://orders.example/")];
        assert_eq!(request(&changes).resources, ["https://orders.example/"]);
        assert!(request(&[]).resources.is_empty());
    }

    #[test]
    fn what_the_client_may_not_ask_for_is_invalid_target() {
        for other in ["https://stock.example/", "https://unknown.example/", "https://orders.example/#f", "x"] {
            assert_eq!(refused(&[("resource", other)]).0, OauthCode::InvalidTarget, "{other}");
        }
    }
}
