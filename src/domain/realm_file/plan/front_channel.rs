//! Warnings of tokens that pass through browsers: told with each plan, whether anything changes or not.

use super::realm::wanted_settings;
use crate::model::client::ClientMetadata;
use crate::protocol::front_channel::{REALM_FIELD, warning_of_client, warning_of_realm};
use crate::realm_file::declared::DeclaredRealm;
use crate::realm_file::fault::Faults;
use crate::realm_file::stored::StoredRealm;

/// Warns of the realm and of its declared clients as they shall be.
pub(super) fn warn(stored: &StoredRealm, declared: &DeclaredRealm, warnings: &mut Faults) {
    let settings = wanted_settings(stored, declared);
    if let Some(message) = warning_of_realm(&settings) {
        warnings.object("realm", &declared.name);
        warnings.add(declared.settings.line(REALM_FIELD).unwrap_or(declared.line), REALM_FIELD, message);
    }
    for client in declared.clients.iter().flatten() {
        let before = stored.clients.iter().find(|before| before.client_id == client.client_id);
        let base: ClientMetadata = before.map(|before| before.metadata.clone()).unwrap_or_default();
        let Some(metadata) = client.metadata.over(&base) else { continue };
        if let Some(message) = warning_of_client(&metadata, &settings) {
            warnings.object("client", &client.client_id);
            warnings.add(client.metadata.line("response_types").unwrap_or(client.line), "response_types", message);
        }
    }
}
