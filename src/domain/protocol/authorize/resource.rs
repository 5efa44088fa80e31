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
