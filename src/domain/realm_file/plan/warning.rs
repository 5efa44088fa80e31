//! What may be done and should be thought about: told with the plan, whether anything changes or not.

use super::realm::wanted_settings;
use super::{Act, Change, Object};
use crate::protocol::front_channel;
use crate::realm_file::declared::DeclaredRealm;
use crate::realm_file::stored::StoredRealm;

/// Something that works and should not be needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What kind of object.
    pub object: Object,
    /// Its natural key.
    pub name: String,
    /// What is the matter and what to do, in words for a person.
    pub message: String,
}

/// What there is to say of the declared objects as they shall be.
pub(super) fn warnings(stored: &StoredRealm, declared: &DeclaredRealm, acts: &[Act]) -> Vec<Warning> {
    let settings = wanted_settings(stored, declared);
    let mut list = Vec::new();
    if let Some(message) = front_channel::warning_of_realm(&settings) {
        list.push(Warning { object: Object::Realm, name: declared.name.clone(), message: message.to_owned() });
    }
    for client in declared.clients.iter().flatten() {
        let name = &client.client_id;
        let wanted = acts.iter().find_map(|act| match &act.change {
            Change::PutClient(wanted) if wanted.client_id == *name => Some(&wanted.metadata),
            _ => None,
        });
        // Nothing to do: it is stored as it shall be.
        let stored = || stored.clients.iter().find(|known| known.client_id == *name).map(|known| &known.metadata);
        let message = wanted.or_else(stored).and_then(|metadata| front_channel::warning_of_client(metadata, &settings));
        list.extend(message.map(|message| Warning { object: Object::Client, name: name.clone(), message }));
    }
    list
}
