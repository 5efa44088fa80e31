//! Users: claims, memberships, powers, the password. Names are compared in their canonical form, and
//! no name may mean two people (`behaviour-cases` B-48).

use std::collections::{BTreeSet, HashMap, HashSet};

use super::compare::Differences;
use super::known::Known;
use super::{Act, Change, Object, PasswordChange, Verb, WantedUser};
use crate::model::identifier::Canonical;
use crate::model::power::Power;
use crate::model::realm::{MAIN_REALM, PasswordPolicy};
use crate::model::user::StandardClaims;
use crate::realm_file::declared::{DeclaredPassword, DeclaredRealm, DeclaredUser};
use crate::realm_file::fault::{Faults, shown};
use crate::realm_file::stored::{StoredRealm, StoredUser};
use crate::signin::identifier::canonical;

pub(super) fn plan(
    stored: &StoredRealm,
    declared: &DeclaredRealm,
    known: &Known<'_>,
    acts: &mut Vec<Act>,
    faults: &mut Faults,
) {
    let policy = super::realm::wanted_settings(stored, declared).password_policy;
    let by_name: HashMap<Canonical, &StoredUser> =
        stored.users.iter().filter_map(|user| Some((canonical(&user.user.username).ok()?, user))).collect();
    let mut wanted_users = Vec::new();
    for user in declared.users.iter().flatten() {
        faults.object("user", &user.username);
        let before = canonical(&user.username).ok().and_then(|name| by_name.get(&name).copied());
        let Some(claims) = claims(user, before) else {
            faults.add(user.line, "", "a fault of this program: a checked value does not fit");
            continue;
        };
        let wanted = WantedUser {
            id: before.map(|before| before.user.id),
            username: user.username.clone(),
            sub: sub(user, before, known, faults),
            enabled: user.enabled.unwrap_or_else(|| before.is_none_or(|before| before.user.enabled)),
            claims,
            groups: groups(user, before, known, faults),
            roles: roles(user, before, known, faults),
            powers: powers(user, before, &declared.name, faults),
            password: password(user, before, policy, faults),
        };
        acts.extend(act(&wanted, before, known));
        wanted_users.push((user, wanted));
    }
    check_names(stored, &wanted_users, faults);
}

fn act(wanted: &WantedUser, before: Option<&StoredUser>, known: &Known<'_>) -> Option<Act> {
    let mut differences = Differences::default();
    let none = StandardClaims::default();
    let account = before.map(|before| &before.user);
    differences.field("username", account.map(|account| &account.username), Some(&wanted.username));
    differences.field("sub", account.map(|account| &account.sub).filter(|_| wanted.sub.is_some()), wanted.sub.as_ref());
    differences.field("enabled", Some(&account.is_none_or(|account| account.enabled)), Some(&wanted.enabled));
    differences.mapping("", account.map_or(&none, |account| &account.claims), &wanted.claims);
    let groups = before.map(|before| known.names.groups(&before.groups)).unwrap_or_default();
    differences.list("groups", &groups, &wanted.groups);
    let roles = before.map(|before| known.names.roles(&before.roles)).unwrap_or_default();
    differences.list("roles", &roles, &wanted.roles);
    let word = |powers: &[Power]| powers.iter().map(|power| power.as_str()).collect::<Vec<_>>();
    let powers = before.map(|before| word(&before.powers)).unwrap_or_default();
    differences.list("administrator", &powers, &word(&wanted.powers));
    if wanted.password != PasswordChange::Keep {
        differences.secret("password");
    }
    let (verb, fields) = match before {
        None => (Verb::Create, differences.without_before()),
        Some(_) if differences.0.is_empty() => return None,
        Some(_) => (Verb::Update, differences.0),
    };
    let change = Change::PutUser(Box::new(wanted.clone()));
    Some(Act { verb, object: Object::User, name: wanted.username.clone(), fields, change })
}

/// Declared over stored. A new address is not verified because the old one was.
fn claims(user: &DeclaredUser, before: Option<&StoredUser>) -> Option<StandardClaims> {
    let base = before.map(|before| before.user.claims.clone()).unwrap_or_default();
    let mut claims = user.claims.over(&base)?;
    if claims.email != base.email && !user.claims.has("email_verified") {
        claims.email_verified = false;
    }
    if claims.phone_number != base.phone_number && !user.claims.has("phone_number_verified") {
        claims.phone_number_verified = false;
    }
    claims.address = claims.address.filter(|address| *address != crate::model::user::Address::default());
    Some(claims)
}

fn sub(user: &DeclaredUser, before: Option<&StoredUser>, known: &Known<'_>, faults: &mut Faults) -> Option<String> {
    let sub = user.sub.as_ref()?;
    if before.is_some_and(|before| before.user.sub != *sub) {
        faults.add(user.line, "sub", "a user's sub never changes: applications know the person by it");
    }
    if known.clients.contains(sub) {
        faults.add(user.line, "sub", "is the client_id of a client; a user and a service account must differ");
    }
    Some(sub.clone())
}

fn groups(user: &DeclaredUser, before: Option<&StoredUser>, known: &Known<'_>, faults: &mut Faults) -> Vec<String> {
    if let Some(list) = &user.groups {
        Known::check("group", &list.items, &known.groups, (list.line, "groups"), faults);
        return list.items.clone();
    }
    let mut paths = before.map(|before| known.names.groups(&before.groups)).unwrap_or_default();
    paths.retain(|path| known.groups.contains(path));
    paths
}

fn roles(
    user: &DeclaredUser,
    before: Option<&StoredUser>,
    known: &Known<'_>,
    faults: &mut Faults,
) -> Vec<crate::realm_file::declared::RoleRef> {
    match &user.roles {
        Some(list) => {
            known.check_roles(list, "roles", faults);
            list.items.clone()
        }
        None => known.kept(before.map(|before| known.names.roles(&before.roles)).unwrap_or_default()),
    }
}

fn powers(user: &DeclaredUser, before: Option<&StoredUser>, realm: &str, faults: &mut Faults) -> Vec<Power> {
    match &user.administrator {
        None => before.map(|before| before.powers.clone()).unwrap_or_default(),
        Some(power) => {
            if power.value() == Some(&Power::Instance) && realm != MAIN_REALM {
                faults.add(user.line, "administrator", "instance is only for users of the realm main; write realm");
            }
            power.value().copied().into_iter().collect()
        }
    }
}

fn password(
    user: &DeclaredUser,
    before: Option<&StoredUser>,
    policy: PasswordPolicy,
    faults: &mut Faults,
) -> PasswordChange {
    match (&user.password, before) {
        (None | Some(DeclaredPassword::Value(_) | DeclaredPassword::Ref(_)), Some(_)) | (None, None) => {
            PasswordChange::Keep
        }
        (Some(DeclaredPassword::Value(value)), None) => {
            let (length, least) = (value.expose().chars().count(), usize::from(policy.min_length));
            if length < least {
                faults.add(
                    user.line,
                    "password.value",
                    format!("{length} characters; settings.password_policy.min_length asks for {least}"),
                );
            }
            PasswordChange::Value(value.clone())
        }
        (Some(DeclaredPassword::Hash(phc)), before) => {
            if before.and_then(|before| before.phc.as_deref()) == Some(phc.expose()) {
                PasswordChange::Keep
            } else {
                PasswordChange::Hash(phc.clone())
            }
        }
        (Some(DeclaredPassword::Ref(_) | DeclaredPassword::Encrypted(_)), _) => {
            faults.add(user.line, "password", "was not resolved; only the local command line resolves it");
            PasswordChange::Keep
        }
    }
}

/// Names to sign in with and subs, over all users as they shall be: each means one person.
fn check_names(stored: &StoredRealm, wanted: &[(&DeclaredUser, WantedUser)], faults: &mut Faults) {
    let changed: BTreeSet<_> = wanted.iter().filter_map(|(_, user)| user.id).collect();
    let mut owners: HashMap<Canonical, String> = HashMap::new();
    let mut subs: HashMap<String, String> = HashMap::new();
    for user in stored.users.iter().map(|stored| &stored.user) {
        subs.insert(user.sub.clone(), user.username.clone());
        if changed.contains(&user.id) {
            continue;
        }
        for name in signin_names(&user.username, &user.claims) {
            owners.insert(name, user.username.clone());
        }
    }
    for (declared, user) in wanted {
        faults.object("user", &user.username);
        if user.claims.email_verified && user.claims.email.is_none() {
            faults.add(
                declared.claims.line("email_verified").unwrap_or(declared.line),
                "email_verified",
                "without an email",
            );
        }
        for name in signin_names(&user.username, &user.claims) {
            if let Some(other) = owners.insert(name, user.username.clone()).filter(|other| *other != user.username) {
                let message = format!("its name or verified e-mail already means the user {}", shown(&other));
                faults.add(declared.line, "username", message);
            }
        }
        let taken = user.sub.as_ref().filter(|_| user.id.is_none()).and_then(|sub| subs.get(sub));
        if let Some(other) = taken {
            faults.add(declared.line, "sub", format!("is that of the user {}", shown(other)));
        }
    }
}

/// What a person may type to sign in.
fn signin_names(username: &str, claims: &StandardClaims) -> HashSet<Canonical> {
    let email = claims.email.as_deref().filter(|_| claims.email_verified);
    canonical(username).ok().into_iter().chain(email.and_then(|email| canonical(email).ok())).collect()
}
