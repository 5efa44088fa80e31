//! How a rule says no: a code from the registries, a sentence for the client's developer, and a
//! reason from a closed list for audit, metrics and tests.

use std::borrow::Cow;
use std::fmt;

/// Error codes of OAuth 2.0 and its extensions, as registered with IANA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OauthCode {
    /// RFC 6749 sections 4.1.2.1 and 5.2.
    InvalidRequest,
    /// RFC 6749 section 5.2.
    InvalidClient,
    /// RFC 6749 section 5.2.
    InvalidGrant,
    /// RFC 6749 section 5.2.
    UnauthorizedClient,
    /// RFC 6749 section 5.2.
    UnsupportedGrantType,
    /// RFC 6749 sections 4.1.2.1 and 5.2.
    InvalidScope,
    /// RFC 6749 section 4.1.2.1.
    AccessDenied,
    /// RFC 6749 section 4.1.2.1.
    UnsupportedResponseType,
    /// RFC 6749 section 4.1.2.1.
    ServerError,
    /// RFC 6749 section 4.1.2.1.
    TemporarilyUnavailable,
    /// OpenID Connect Core 3.1.2.6.
    LoginRequired,
    /// OpenID Connect Core 3.1.2.6.
    ConsentRequired,
    /// OpenID Connect Core 3.1.2.6.
    InteractionRequired,
    /// OpenID Connect Core 3.1.2.6.
    AccountSelectionRequired,
    /// OpenID Connect Core 3.1.2.6.
    RequestNotSupported,
    /// OpenID Connect Core 3.1.2.6.
    RequestUriNotSupported,
    /// OpenID Connect Core 3.1.2.6, RFC 9101 section 7.
    InvalidRequestUri,
    /// OpenID Connect Core 3.1.2.6, RFC 9101 section 7.
    InvalidRequestObject,
    /// OpenID Connect Core 3.1.2.6.
    RegistrationNotSupported,
    /// OpenID Connect Unmet Authentication Requirements.
    UnmetAuthenticationRequirements,
    /// RFC 8707 section 2.
    InvalidTarget,
    /// RFC 6750 section 3.1.
    InvalidToken,
    /// RFC 6750 section 3.1.
    InsufficientScope,
    /// RFC 7009 section 2.2.1.
    UnsupportedTokenType,
    /// RFC 7591 section 3.2.2.
    InvalidRedirectUri,
    /// RFC 7591 section 3.2.2.
    InvalidClientMetadata,
}

impl OauthCode {
    /// The registered text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::InvalidScope => "invalid_scope",
            Self::AccessDenied => "access_denied",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::LoginRequired => "login_required",
            Self::ConsentRequired => "consent_required",
            Self::InteractionRequired => "interaction_required",
            Self::AccountSelectionRequired => "account_selection_required",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::InvalidRequestUri => "invalid_request_uri",
            Self::InvalidRequestObject => "invalid_request_object",
            Self::RegistrationNotSupported => "registration_not_supported",
            Self::UnmetAuthenticationRequirements => "unmet_authentication_requirements",
            Self::InvalidTarget => "invalid_target",
            Self::InvalidToken => "invalid_token",
            Self::InsufficientScope => "insufficient_scope",
            Self::UnsupportedTokenType => "unsupported_token_type",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
        }
    }
}

impl fmt::Display for OauthCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rule's no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What the standards call it.
    pub code: OauthCode,
    /// What was wrong and what to change, for the client's developer: printable ASCII without `"` and
    /// `\` (RFC 6749 section 4.1.2.1). Never shown to a stranger beyond the client's own request.
    pub description: Cow<'static, str>,
    /// A snake-case word for audit, metrics and tests, never sent.
    pub reason: &'static str,
}

impl Refusal {
    /// A refusal with a fixed sentence.
    #[must_use]
    pub const fn new(code: OauthCode, reason: &'static str, description: &'static str) -> Self {
        Self { code, description: Cow::Borrowed(description), reason }
    }

    /// A refusal whose sentence names what was sent; bytes that RFC 6749 forbids in
    /// `error_description` are replaced.
    #[must_use]
    pub fn with(code: OauthCode, reason: &'static str, description: &str) -> Self {
        Self { code, description: Cow::Owned(clean(description)), reason }
    }
}

/// Keeps what RFC 6749 section 4.1.2.1 allows: `%x20-21 / %x23-5B / %x5D-7E`, at most 400 characters.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars()
        .take(400)
        .map(|c| match c {
            '"' => '\'',
            '\\' => '/',
            ' '..='~' => c,
            _ => '?',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_holds_only_what_the_standard_allows() {
        let refusal = Refusal::with(OauthCode::InvalidScope, "scope_unknown", "scope \"a\\b\"\r\n\u{e9} is unknown");
        assert_eq!(refusal.description, "scope 'a/b'??? is unknown");
    }
}
