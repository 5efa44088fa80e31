//! Clients: metadata, and the secret, which only the sealer can compare.

use super::compare::Differences;
use super::known::Known;
use super::realm::wanted_settings;
use super::{Act, Change, Object, Options, SecretChange, Verb, WantedClient};
use crate::model::client::{AuthMethod, Client, ClientMetadata, ClientOrigin};
use crate::model::key::Algorithm;
use crate::realm_file::clients;
use crate::realm_file::declared::{DeclaredClient, DeclaredClientSecret, DeclaredRealm, RoleRef};
use crate::realm_file::fault::{Faults, shown};
use crate::realm_file::stored::StoredRealm;

pub(super) fn plan(
    stored: &StoredRealm,
    declared: &DeclaredRealm,
    known: &Known<'_>,
    acts: &mut Vec<Act>,
    faults: &mut Faults,
) {
    check_dropped(stored, declared, known, faults);
    let algorithms = wanted_settings(stored, declared).keys.algorithms;
    for client in declared.clients.iter().flatten() {
        faults.object("client", &client.client_id);
        let before = stored.clients.iter().find(|before| before.client_id == client.client_id);
        let base = before.map(|before| before.metadata.clone()).unwrap_or_default();
        let Some(metadata) = client.metadata.over(&base) else {
            faults.add(client.line, "", "a fault of this program: a checked value does not fit");
            continue;
        };
        check(client, &metadata, known, faults);
        check_algorithms(client, &metadata, &algorithms, faults);
        let taken = stored.users.iter().find(|user| before.is_none() && user.user.sub == client.client_id);
        if let Some(taken) = taken {
            let message = format!(
                "is the sub of the user {}; a user and a service account must differ",
                shown(&taken.user.username)
            );
            faults.add(client.line, "client_id", message);
        }
        let secret = secret(client, before, &metadata, known.options, faults);
        let enabled = client.enabled.unwrap_or_else(|| before.is_none_or(|before| before.enabled));
        let mut differences = Differences::default();
        differences.field("enabled", Some(&before.is_none_or(|before| before.enabled)), Some(&enabled));
        // Declared here, it is the operator's from now on.
        let origin = before.map_or(ClientOrigin::Operator, |before| before.origin).as_str();
        differences.field("origin", Some(&origin), Some(&ClientOrigin::Operator.as_str()));
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

/// The algorithms that a client asks for in what it gets, by their fields.
fn wished(metadata: &ClientMetadata) -> impl Iterator<Item = (&'static str, Algorithm)> {
    let fields = [
        ("id_token_signed_response_alg", metadata.id_token_signed_response_alg),
        ("userinfo_signed_response_alg", metadata.userinfo_signed_response_alg),
    ];
    fields.into_iter().filter_map(|(field, alg)| Some((field, alg?)))
}

/// A realm that drops an algorithm would leave a client that the file does not name without its tokens.
fn check_dropped(stored: &StoredRealm, declared: &DeclaredRealm, known: &Known<'_>, faults: &mut Faults) {
    const FIELD: &str = "settings.keys.algorithms";
    let Some(line) = declared.settings.line(FIELD) else { return };
    let algorithms = wanted_settings(stored, declared).keys.algorithms;
    faults.object("realm", &declared.name);
    let is_declared = |id: &str| declared.clients.iter().flatten().any(|client| client.client_id == id);
    let stays = |client: &&Client| known.clients.contains(&client.client_id) && !is_declared(&client.client_id);
    for client in stored.clients.iter().filter(stays) {
        for (field, alg) in wished(&client.metadata).filter(|(_, alg)| !algorithms.contains(alg)) {
            let (alg, id) = (alg.as_str(), shown(&client.client_id));
            let message = format!("{alg} is the {field} of the client {id}; keep it, or change the client as well");
            faults.add(line, FIELD, message);
        }
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

/// What the realm has no key for, it cannot sign.
fn check_algorithms(client: &DeclaredClient, metadata: &ClientMetadata, ours: &[Algorithm], faults: &mut Faults) {
    for (field, alg) in wished(metadata).filter(|(_, alg)| !ours.contains(alg)) {
        let line = client.metadata.line(field).unwrap_or(client.line);
        faults.add(line, field, format!("{} is not among settings.keys.algorithms of the realm", alg.as_str()));
    }
}

/// The shortest secret that may sign (RFC 7518 section 3.2).
const SIGNING_SECRET_MIN: usize = 32;

fn secret(
    client: &DeclaredClient,
    before: Option<&Client>,
    metadata: &ClientMetadata,
    options: Options<'_>,
    faults: &mut Faults,
) -> SecretChange {
    let Some(declared) = &client.secret else { return SecretChange::Keep };
    let method = metadata.token_endpoint_auth_method;
    if !method.has_secret() {
        let what = if method == AuthMethod::None { "a public client" } else { "a client that signs with its own key" };
        let message = format!("{what} (token_endpoint_auth_method: {}) has no secret", method.as_str());
        faults.add(client.line, "client_secret", message);
        return SecretChange::Keep;
    }
    // Only a secret that was given in full can be sealed for signatures.
    let signs = method == AuthMethod::ClientSecretJwt;
    let is_whole = |before: &Client| !signs || before.secrets.first().is_some_and(|newest| newest.sealed.is_some());
    match declared {
        DeclaredClientSecret::Value(secret) => {
            if signs && secret.expose().len() < SIGNING_SECRET_MIN {
                let message =
                    "a secret that signs (client_secret_jwt) has at least 32 characters (RFC 7518 section 3.2)";
                faults.add(client.line, "client_secret", message);
                SecretChange::Keep
            } else if before.is_some_and(|before| (options.holds)(before, secret) && is_whole(before)) {
                SecretChange::Keep
            } else {
                SecretChange::Value(secret.clone())
            }
        }
        DeclaredClientSecret::Hash(_) if signs => {
            let message = "only its hash is in the export, and client_secret_jwt needs the secret itself: write \
                           client_secret, or leave it out and run doorward client rotate-secret";
            faults.add(client.line, "client_secret_encrypted", message);
            SecretChange::Keep
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
