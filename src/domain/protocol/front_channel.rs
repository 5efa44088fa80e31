//! What an operator should know of tokens that pass through browsers (RFC 9700 section 2.1.2): they work where
//! they were switched on, and each time somebody looks it is said what is wrong with them.

use crate::model::client::ClientMetadata;
use crate::model::realm::RealmSettings;

/// The setting that lets access tokens through.
pub const REALM_FIELD: &str = "settings.clients.front_channel_tokens";

/// What there is to say of a realm that gives access tokens through the browser.
#[must_use]
pub const fn warning_of_realm(settings: &RealmSettings) -> Option<&'static str> {
    if settings.clients.front_channel_tokens {
        Some(
            "is on: applications that registered it get access tokens \
             through the browser, where history, scripts and extensions can read them (RFC 9700 section 2.1.2). \
             Move them to response_type code, then set it to false",
        )
    } else {
        None
    }
}

/// What there is to say of a client that registered more than the code flow.
#[must_use]
pub fn warning_of_client(client: &ClientMetadata, settings: &RealmSettings) -> Option<String> {
    let legacy: Vec<&str> =
        client.response_types.iter().filter(|each| each.is_front_channel()).map(|each| each.as_str()).collect();
    if legacy.is_empty() {
        return None;
    }
    let mut text = format!(
        "has {}: tokens pass through the browser instead of the token endpoint (RFC 9700 section \
         2.1.2); use code alone unless the application cannot",
        legacy.join(", ")
    );
    if client.response_types.iter().any(|each| each.has_token()) && !settings.clients.front_channel_tokens {
        text.push_str(". Those with token are refused while settings.clients.front_channel_tokens is false");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::response_type::ResponseType;

    #[test]
    fn the_code_flow_alone_needs_no_warning() {
        let settings = RealmSettings::default();
        assert_eq!(warning_of_realm(&settings), None);
        assert_eq!(warning_of_client(&ClientMetadata::default(), &settings), None);
    }

    #[test]
    fn whoever_registers_more_is_told_what_it_is_and_whether_it_works() {
        let mut settings = RealmSettings::default();
        let client = |types: &[ResponseType]| ClientMetadata { response_types: types.to_vec(), ..Default::default() };
        let text = warning_of_client(&client(&[ResponseType::Code, ResponseType::CodeIdToken]), &settings).unwrap();
        assert!(text.contains("has code id_token:") && !text.contains("are refused"), "{text}");
        let text = warning_of_client(&client(&[ResponseType::Token]), &settings).unwrap();
        assert!(text.contains("Those with token are refused while"), "{text}");
        settings.clients.front_channel_tokens = true;
        let text = warning_of_client(&client(&[ResponseType::Token]), &settings).unwrap();
        assert!(!text.contains("are refused"), "{text}");
        assert!(warning_of_realm(&settings).unwrap().starts_with("is on: applications"));
    }
}
