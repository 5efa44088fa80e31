//! Response types: what an authorization endpoint answers with (RFC 6749 section 3.1.1, OAuth 2.0 Multiple
//! Response Type Encoding Practices 3 to 5). A set of words; their order never matters.

use serde::{Deserialize, Serialize};

/// A response type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ResponseType {
    /// The code flow.
    #[default]
    #[serde(rename = "code")]
    Code,
    /// The implicit flow (OpenID Connect Core 3.2).
    #[serde(rename = "id_token")]
    IdToken,
    /// The hybrid flow (OpenID Connect Core 3.3).
    #[serde(rename = "code id_token")]
    CodeIdToken,
    /// RFC 6749 section 4.2.
    #[serde(rename = "token")]
    Token,
    /// The implicit flow with an access token.
    #[serde(rename = "id_token token")]
    IdTokenToken,
    /// The hybrid flow with an access token and no ID token.
    #[serde(rename = "code token")]
    CodeToken,
    /// The hybrid flow with everything.
    #[serde(rename = "code id_token token")]
    CodeIdTokenToken,
}

impl ResponseType {
    /// Every response type built, in the order of discovery.
    pub const ALL: [Self; 7] = [
        Self::Code,
        Self::IdToken,
        Self::CodeIdToken,
        Self::Token,
        Self::IdTokenToken,
        Self::CodeToken,
        Self::CodeIdTokenToken,
    ];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::IdToken => "id_token",
            Self::CodeIdToken => "code id_token",
            Self::Token => "token",
            Self::IdTokenToken => "id_token token",
            Self::CodeToken => "code token",
            Self::CodeIdTokenToken => "code id_token token",
        }
    }

    /// Reads the words in whatever order (Multiple Response Types 5), each once.
    #[must_use]
    pub fn from_words(text: &str) -> Option<Self> {
        let mut asked: Vec<&str> = text.split(' ').collect();
        asked.sort_unstable();
        Self::ALL.into_iter().find(|known| {
            // The registered names have their words in this very order.
            known.as_str().split(' ').eq(asked.iter().copied())
        })
    }

    /// Whether a text, known here or not, names something besides a code: then the client looks for its answer in
    /// the fragment (Multiple Response Types 5).
    #[must_use]
    pub fn names_front_channel(text: &str) -> bool {
        text.split(' ').any(|word| matches!(word, "id_token" | "token"))
    }

    /// Whether a code comes.
    #[must_use]
    pub const fn has_code(self) -> bool {
        matches!(self, Self::Code | Self::CodeIdToken | Self::CodeToken | Self::CodeIdTokenToken)
    }

    /// Whether an ID token comes from the authorization endpoint.
    #[must_use]
    pub const fn has_id_token(self) -> bool {
        matches!(self, Self::IdToken | Self::CodeIdToken | Self::IdTokenToken | Self::CodeIdTokenToken)
    }

    /// Whether an access token comes from the authorization endpoint.
    #[must_use]
    pub const fn has_token(self) -> bool {
        matches!(self, Self::Token | Self::IdTokenToken | Self::CodeToken | Self::CodeIdTokenToken)
    }

    /// Whether something other than a code passes through the browser.
    #[must_use]
    pub const fn is_front_channel(self) -> bool {
        self.has_id_token() || self.has_token()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_words_is_free_and_each_stands_once() {
        for known in ResponseType::ALL {
            let mut turned: Vec<&str> = known.as_str().split(' ').collect();
            turned.reverse();
            assert_eq!(ResponseType::from_words(&turned.join(" ")), Some(known));
            turned.rotate_left(1);
            assert_eq!(ResponseType::from_words(&turned.join(" ")), Some(known));
        }
        for other in [
            "",
            " ",
            "none",
            "CODE",
            "code code",
            "code  id_token",
            " code",
            "code\tid_token",
            "code none",
            "codetoken",
        ] {
            assert_eq!(ResponseType::from_words(other), None, "{other:?}");
            assert_eq!(ResponseType::names_front_channel(other), other == "code  id_token", "{other:?}");
        }
    }

    #[test]
    fn each_part_is_what_its_word_says() {
        for known in ResponseType::ALL {
            let has = |word: &str| known.as_str().split(' ').any(|own| own == word);
            assert_eq!((known.has_code(), known.has_id_token()), (has("code"), has("id_token")), "{known:?}");
            assert_eq!(known.has_token(), has("token"), "{known:?}");
            assert_eq!(known.is_front_channel(), known != ResponseType::Code);
            assert_eq!(ResponseType::names_front_channel(known.as_str()), known.is_front_channel());
            let written = serde_json::to_string(&known).unwrap();
            assert_eq!(written, format!("\"{}\"", known.as_str()));
            assert_eq!(serde_json::from_str::<ResponseType>(&written).unwrap(), known);
        }
    }
}
