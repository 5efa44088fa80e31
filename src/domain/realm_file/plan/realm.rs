//! The realm itself and its settings.

use serde::{Deserialize, Serialize};

use super::compare::Differences;
use super::{Act, Change, Object, Verb, WantedRealm};
use crate::model::realm::RealmSettings;
use crate::protocol::subject::PairwiseKey;
use crate::realm_file::declared::{DeclaredPairwiseKey, DeclaredRealm};
use crate::realm_file::fault::Faults;
use crate::realm_file::settings;
use crate::realm_file::stored::StoredRealm;

/// What stands beside the settings.
#[derive(Serialize, Deserialize)]
#[serde(default)]
struct Head {
    display_name: Option<String>,
    enabled: bool,
    issuer: Option<String>,
}

impl Default for Head {
    fn default() -> Self {
        Self { display_name: None, enabled: true, issuer: None }
    }
}

/// The settings as they shall be: declared over stored over default.
pub(super) fn wanted_settings(stored: &StoredRealm, declared: &DeclaredRealm) -> RealmSettings {
    let base = stored.realm.as_ref().map(|realm| realm.settings.clone()).unwrap_or_default();
    declared.settings.over(&base).unwrap_or(base)
}

pub(super) fn plan(stored: &StoredRealm, declared: &DeclaredRealm, acts: &mut Vec<Act>, faults: &mut Faults) {
    faults.object("realm", &declared.name);
    let base = stored.realm.as_ref().map_or_else(Head::default, |realm| Head {
        display_name: realm.display_name.clone(),
        enabled: realm.enabled,
        issuer: realm.issuer.clone(),
    });
    let before = stored.realm.as_ref().map(|realm| realm.settings.clone()).unwrap_or_default();
    let (Some(head), Some(settings)) = (declared.fields.over(&base), declared.settings.over(&before)) else {
        faults.add(declared.line, "", "a fault of this program: a checked value does not fit");
        return;
    };
    for crossed in settings::crossed(&settings) {
        crossed.report(&declared.settings, declared.line, faults);
    }
    let mut differences = Differences::default();
    differences.mapping("", &base, &head);
    differences.mapping("settings", &before, &settings);
    let pairwise_key = pairwise_key(stored, declared, faults);
    if pairwise_key.is_some() {
        differences.secret("pairwise_key_encrypted");
    }
    let (verb, fields) = match &stored.realm {
        None => (Verb::Create, differences.without_before()),
        Some(_) if differences.0.is_empty() => return,
        Some(_) => (Verb::Update, differences.0),
    };
    acts.push(Act {
        verb,
        object: Object::Realm,
        name: declared.name.clone(),
        fields,
        change: Change::PutRealm(Box::new(WantedRealm {
            name: declared.name.clone(),
            display_name: head.display_name,
            enabled: head.enabled,
            issuer: head.issuer,
            settings,
            pairwise_key,
        })),
    });
}

/// The key to be kept. Another one than is stored would be another `sub` for every person at every pairwise
/// client, which no application could follow.
fn pairwise_key(stored: &StoredRealm, declared: &DeclaredRealm, faults: &mut Faults) -> Option<PairwiseKey> {
    const FIELD: &str = "pairwise_key_encrypted";
    let (line, key) = declared.pairwise_key.as_ref()?;
    let DeclaredPairwiseKey::Value(key) = key else {
        faults.add(*line, FIELD, "was not resolved; only the local command line resolves it");
        return None;
    };
    match &stored.pairwise_key {
        None => Some((**key).clone()),
        Some(known) if *known == **key => None,
        Some(_) => {
            let message = "this realm has given pairwise subs under another key, and a new one would change them all; \
                           leave the field out to keep the stored key";
            faults.add(*line, FIELD, message);
            None
        }
    }
}
