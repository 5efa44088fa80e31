//! Roles: of the realm or of one client; a composite brings others along.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::ids::{ClientKey, RealmId, RoleId};

/// A role as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: RoleId,
    /// The client it belongs to; `None` = a realm role.
    pub client: Option<ClientKey>,
    /// Unique within realm or client.
    pub name: String,
    /// For administrators.
    pub description: Option<String>,
    /// Roles that come with it.
    pub composites: Vec<RoleId>,
}

/// The names of the realm roles that these ones amount to, composites included, each once, sorted. A name
/// without a role is none; a circle ends.
#[must_use]
pub fn effective(given: &[String], roles: &[Role]) -> Vec<String> {
    let by_id: HashMap<RoleId, &Role> = roles.iter().map(|role| (role.id, role)).collect();
    let mut open: Vec<&Role> =
        roles.iter().filter(|role| role.client.is_none() && given.contains(&role.name)).collect();
    let mut seen: HashSet<RoleId> = open.iter().map(|role| role.id).collect();
    let mut names = BTreeSet::new();
    while let Some(role) = open.pop() {
        if role.client.is_none() {
            names.insert(role.name.clone());
        }
        let parts = role.composites.iter().filter_map(|part| by_id.get(part).copied());
        open.extend(parts.filter(|part| seen.insert(part.id)));
    }
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(number: u8, name: &str, composites: &[u8]) -> Role {
        Role {
            realm: RealmId::from_bytes([0; 16]),
            id: RoleId::from_bytes([number; 16]),
            client: None,
            name: name.to_owned(),
            description: None,
            composites: composites.iter().map(|number| RoleId::from_bytes([*number; 16])).collect(),
        }
    }

    #[test]
    fn composites_come_along_a_circle_ends_and_what_is_gone_is_nothing() {
        let of_client = Role { client: Some(ClientKey::from_bytes([9; 16])), ..role(5, "clerk", &[2]) };
        let roles = [
            role(1, "chief", &[2, 5]),
            role(2, "editor", &[3, 77]),
            role(3, "reader", &[2]),
            role(4, "other", &[]),
            of_client,
        ];
        let given = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(effective(&given(&["chief", "gone"]), &roles), ["chief", "editor", "reader"]);
        assert_eq!(effective(&given(&["reader"]), &roles), ["editor", "reader"]);
        // A client's role of that name is another one.
        assert!(effective(&given(&["clerk"]), &roles).is_empty());
        assert!(effective(&[], &roles).is_empty());
    }
}
