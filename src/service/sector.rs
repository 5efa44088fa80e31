//! Sector documents (OpenID Connect Core 8.1, Dynamic Registration 5): whether the host of a client's
//! `sector_identifier_uri` agrees that the client belongs to its sector. Without that anybody could register
//! into another's sector and know its people.
//!
//! Who registers by himself is checked before he is registered; what an operator declares is his own word, and
//! `doorward doctor` tells where the document does not bear it out.

use std::fmt;

use url::Url;

use crate::domain::model::client::ClientMetadata;
use crate::domain::protocol::subject::{DocumentFault, check_document};
use crate::outbound::{self, Outbound, Trust};

/// Why a sector document does not bear out what a client says. `Display` is for strangers and the same for
/// each, so that nobody learns what stands in our network; [`SectorError::detail`] is for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectorError {
    /// It was not fetched.
    Unfetched(outbound::Error),
    /// It was fetched and says something else.
    Document(DocumentFault),
}

impl fmt::Display for SectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "sector_identifier_uri must answer with a JSON array (application/json, https on port 443, no redirect, \
             at most 64 KiB within three seconds) that lists every redirect URI",
        )
    }
}

impl std::error::Error for SectorError {}

impl SectorError {
    /// What exactly, for who may know.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Unfetched(error) => format!("cannot be fetched: {}", error.detail()),
            Self::Document(fault) => fault.to_string(),
        }
    }
}

/// Checks a client's sector document; a client without one passes.
///
/// # Errors
/// When the document cannot be had, or does not list every redirect URI.
pub async fn check(outbound: &Outbound, client: &ClientMetadata, trust: Trust) -> Result<(), SectorError> {
    let Some(uri) = &client.sector_identifier_uri else { return Ok(()) };
    let unfetched = SectorError::Unfetched;
    let url = Url::parse(uri).map_err(|_| unfetched(outbound::Error::Address))?;
    if url.scheme() != "https" {
        return Err(unfetched(outbound::Error::Address));
    }
    let bytes = outbound.sector_document(&url, trust).await.map_err(unfetched)?;
    check_document(&bytes, &client.redirect_uris).map_err(SectorError::Document)
}
