//! Clients: metadata, and the secret, which only the sealer can compare.

use super::compare::Differences;
use super::known::Known;
use super::{Act, Change, Object, Options, SecretChange, Verb, WantedClient};
use crate::model::client::{AuthMethod, Client, ClientMetadata};
use crate::realm_file::clients;
use crate::realm_file::declared::{DeclaredClient, DeclaredClientSecret, DeclaredRealm, RoleRef};
use crate::realm_file::fault::Faults;
use crate::realm_file::stored::StoredRealm;

pub(super) fn plan(
    stored: &StoredRealm,
    declared: &DeclaredRealm,
    known: &Known<'_>,
    acts: &mut Vec<Act>,
    faults: &mut Faults,
) {
    for client in declared.clients.iter().flatten() {
        faults.object("client", &client.client_id);
        let before = stored.clients.iter().find(|before| before.client_id == client.client_id);
        let base = before.map(|before| before.metadata.clone()).unwrap_or_default();
        let Some(metadata) = client.metadata.over(&base) else {
            faults.add(client.line, "", "a fault of this program: a checked value does not fit");
            continue;
        };
        check(client, &metadata, known, faults);
        let secret = secret(client, before, &metadata, known.options, faults);
        let enabled = client.enabled.unwrap_or_else(|| before.is_none_or(|before| before.enabled));
        let mut differences = Differences::default();
        differences.field("enabled", Some(&before.is_none_or(|before| before.enabled)), Some(&enabled));
        differences.mapping("", &base, &metadata);
        if secret != SecretChange::Keep {
            differences.secret("client_secret");
        }
        let (verb, fields) = match before {
            None => (Verb::Create, differences.without_before()),
            Some(_) if differences.0.is_empty() => continue,
            Some(_) => (Verb::Update, differences.0),
        };
        acts.push(Act {
            verb,
            object: Object::Client,
            name: client.client_id.clone(),
            fields,
            change: Change::PutClient(Box::new(WantedClient {
                key: before.map(|before| before.key),
                client_id: client.client_id.clone(),
                enabled,
                metadata,
                secret,
            })),
        });
    }
}

fn check(client: &DeclaredClient, metadata: &ClientMetadata, known: &Known<'_>, faults: &mut Faults) {
    for crossed in clients::crossed(metadata) {
        crossed.report(&client.metadata, client.line, faults);
    }
    let line = |field: &str| client.metadata.line(field).unwrap_or(client.line);
    let resources = line("resources");
    Known::check("resource", &metadata.resources, &known.resources, (resources, "resources"), faults);
    let realm_roles =
        known.roles.iter().filter(|role| role.client.is_none()).map(|role: &RoleRef| role.name.clone()).collect();
    let roles = line("service_account_roles");
    Known::check("role", &metadata.service_account_roles, &realm_roles, (roles, "service_account_roles"), faults);
}

fn secret(
    client: &DeclaredClient,
    before: Option<&Client>,
    metadata: &ClientMetadata,
    options: Options<'_>,
    faults: &mut Faults,
) -> SecretChange {
    let Some(declared) = &client.secret else { return SecretChange::Keep };
    if metadata.token_endpoint_auth_method == AuthMethod::None {
        faults.add(client.line, "client_secret", "a public client (token_endpoint_auth_method: none) has no secret");
        return SecretChange::Keep;
    }
    match declared {
        DeclaredClientSecret::Value(secret) => {
            if before.is_some_and(|before| (options.holds)(before, secret)) {
                SecretChange::Keep
            } else {
                SecretChange::Value(secret.clone())
            }
        }
        DeclaredClientSecret::Hash(hash) => {
            let newest = before.and_then(|before| before.secrets.first());
            if newest.is_some_and(|newest| newest.hash == *hash) {
                SecretChange::Keep
            } else {
                SecretChange::Hash(*hash)
            }
        }
        DeclaredClientSecret::Ref(_) | DeclaredClientSecret::Encrypted(_) => {
            faults.add(client.line, "client_secret", "was not resolved; only the local command line resolves it");
            SecretChange::Keep
        }
    }
}
