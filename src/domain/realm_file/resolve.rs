//! Puts secrets in the place of references to them. Where they come from is the command line's matter
//! (`security-design` rule 28); what they must look like is checked here like what stands in the file.

use super::declared::{DeclaredClientSecret, DeclaredPairwiseKey, DeclaredPassword, DeclaredRealm, SecretRef};
use super::fault::{Fault, Faults};
use super::text::client_secret;
use super::users::{password_value, phc};
use crate::model::secret::Secret;
use crate::protocol::subject::PairwiseKey;

/// Finds and opens secrets; an error says what is wrong, never the secret.
pub trait SecretSource {
    /// The secret behind a reference.
    fn find(&mut self, at: &SecretRef) -> Result<Secret, String>;
    /// A user's PHC string as `export --with-secrets` wrote it.
    fn open_password(&mut self, realm: &str, username: &str, text: &str) -> Result<Secret, String>;
    /// A client's secret as `export --with-secrets` wrote it: its stored hash, or itself where that was kept.
    fn open_client_secret(&mut self, realm: &str, client_id: &str, text: &str) -> Result<DeclaredClientSecret, String>;
    /// The key of a realm's pairwise subs as `export --with-secrets` wrote it.
    fn open_pairwise_key(&mut self, realm: &str, text: &str) -> Result<PairwiseKey, String>;
}

/// Resolves every reference of a realm. The realm must not be planned when there are faults.
pub fn resolve(realm: &mut DeclaredRealm, source: &mut dyn SecretSource) -> Vec<Fault> {
    let mut faults = Faults::new(&realm.file);
    if let Some((line, DeclaredPairwiseKey::Encrypted(text))) = &realm.pairwise_key {
        match source.open_pairwise_key(&realm.name, text) {
            Ok(key) => realm.pairwise_key = Some((*line, DeclaredPairwiseKey::Value(Box::new(key)))),
            Err(message) => {
                faults.object("realm", &realm.name);
                faults.add(*line, "pairwise_key_encrypted", message);
            }
        }
    }
    for user in realm.users.iter_mut().flatten() {
        let resolved = match &user.password {
            Some(DeclaredPassword::Ref(at)) => source
                .find(at)
                .and_then(|secret| password_value(secret.expose()).map(|_| DeclaredPassword::Value(secret))),
            Some(DeclaredPassword::Encrypted(text)) => source
                .open_password(&realm.name, &user.username, text)
                .and_then(|secret| phc(secret.expose()).map(|_| DeclaredPassword::Hash(secret))),
            None | Some(DeclaredPassword::Value(_) | DeclaredPassword::Hash(_)) => continue,
        };
        match resolved {
            Ok(password) => user.password = Some(password),
            Err(message) => {
                faults.object("user", &user.username);
                faults.add(user.line, "password", message);
            }
        }
    }
    for client in realm.clients.iter_mut().flatten() {
        let (field, resolved) = match &client.secret {
            Some(DeclaredClientSecret::Ref(at)) => (
                "secret_ref",
                source
                    .find(at)
                    .and_then(|secret| client_secret(secret.expose()).map(|_| DeclaredClientSecret::Value(secret))),
            ),
            Some(DeclaredClientSecret::Encrypted(text)) => {
                ("client_secret_encrypted", source.open_client_secret(&realm.name, &client.client_id, text))
            }
            None | Some(DeclaredClientSecret::Value(_) | DeclaredClientSecret::Hash(_)) => continue,
        };
        match resolved {
            Ok(secret) => client.secret = Some(secret),
            Err(message) => {
                faults.object("client", &client.client_id);
                faults.add(client.line, field, message);
            }
        }
    }
    faults.into_list()
}
