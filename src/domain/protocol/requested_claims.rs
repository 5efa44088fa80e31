//! Single claims that a client asked for (OpenID Connect Core 5.5), as they are fixed in a grant: names only, and
//! only those that can be delivered. A claim belongs to a standard scope; it is given where that scope is
//! registered for the client, and the person is asked for it as for that scope.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::claims::{ClaimFacts, UserinfoClaims};
use super::scope::{GROUPS, ROLES};

/// Claims that can be asked for one by one, with the scope that each belongs to (Core 5.4).
const CLAIMS: [(&str, &str); 21] = [
    ("name", "profile"),
    ("given_name", "profile"),
    ("family_name", "profile"),
    ("middle_name", "profile"),
    ("nickname", "profile"),
    ("preferred_username", "profile"),
    ("profile", "profile"),
    ("picture", "profile"),
    ("website", "profile"),
    ("gender", "profile"),
    ("birthdate", "profile"),
    ("zoneinfo", "profile"),
    ("locale", "profile"),
    ("updated_at", "profile"),
    ("email", "email"),
    ("email_verified", "email"),
    ("phone_number", "phone"),
    ("phone_number_verified", "phone"),
    ("address", "address"),
    (ROLES, ROLES),
    (GROUPS, GROUPS),
];

/// The scope that a claim belongs to; `None` for a claim that nobody can ask for by its name.
#[must_use]
pub fn scope_of(claim: &str) -> Option<&'static str> {
    CLAIMS.iter().find(|(name, _)| *name == claim).map(|(_, scope)| *scope)
}

/// Whether a client that registered these scopes, space separated, may have the claim.
#[must_use]
pub fn is_deliverable(claim: &str, registered: &str) -> bool {
    scope_of(claim).is_some_and(|scope| registered.split(' ').any(|own| own == scope))
}

/// Names of claims, by the place where they are to appear; each once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestedClaims {
    /// At the userinfo endpoint.
    pub userinfo: Vec<String>,
    /// In the ID token.
    pub id_token: Vec<String>,
}

impl RequestedClaims {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.userinfo.is_empty() && self.id_token.is_empty()
    }

    /// The scopes that the claims belong to, each once.
    #[must_use]
    pub fn scopes(&self) -> Vec<&'static str> {
        scopes_of(self.userinfo.iter().chain(&self.id_token))
    }

    /// What a grant keeps: a `claims` parameter of the names alone; `None` where nothing is asked for.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let asked = |names: &[String]| -> Value { names.iter().map(|name| (name.clone(), Value::Null)).collect() };
        let mut places = Map::new();
        for (place, names) in [("userinfo", &self.userinfo), ("id_token", &self.id_token)] {
            if !names.is_empty() {
                places.insert(place.to_owned(), asked(names));
            }
        }
        Some(Value::Object(places).to_string())
    }

    /// Reads what a grant keeps. Whatever is not understood is not delivered.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let places: Value = serde_json::from_str(text).unwrap_or_default();
        let names = |place: &str| {
            let names = places.get(place).and_then(Value::as_object);
            names.map(|names| names.keys().cloned().collect()).unwrap_or_default()
        };
        Self { userinfo: names("userinfo"), id_token: names("id_token") }
    }
}

fn scopes_of<'a>(claims: impl Iterator<Item = &'a String>) -> Vec<&'static str> {
    let mut scopes = Vec::new();
    for scope in claims.filter_map(|claim| scope_of(claim)) {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// The claims of these names and no others, as far as something is known of the person and `registered`, the
/// client's scopes of today, still has theirs. What is missing is left out (Core 5.5.1).
#[must_use]
pub fn deliver(facts: &ClaimFacts<'_>, names: &[String], registered: &str) -> Map<String, Value> {
    let mut claims = everything(facts, names);
    claims.retain(|name, _| names.iter().any(|asked| asked == name) && is_deliverable(name, registered));
    claims
}

/// As [`deliver`], without what `granted`, the scopes of the token, give anyway; `None` as a rule.
#[must_use]
pub fn beside(
    facts: &ClaimFacts<'_>,
    names: &[String],
    granted: &[String],
    registered: &str,
) -> Option<Map<String, Value>> {
    if names.is_empty() {
        return None;
    }
    let is_given = |name: &str| scope_of(name).is_some_and(|scope| granted.iter().any(|own| own == scope));
    let names: Vec<String> = names.iter().filter(|name| !is_given(name)).cloned().collect();
    Some(deliver(facts, &names, registered))
}

/// What the scopes of these claims would give.
fn everything(facts: &ClaimFacts<'_>, names: &[String]) -> Map<String, Value> {
    let scopes: Vec<String> = scopes_of(names.iter()).into_iter().map(str::to_owned).collect();
    match serde_json::to_value(UserinfoClaims::new(facts, &scopes)) {
        Ok(Value::Object(claims)) => claims,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::claims::SUPPORTED;
    use super::super::sample;
    use super::*;

    fn delivered(names: &str, registered: &str) -> Value {
        let mut user = sample::user();
        user.claims.email = Some("alice@example.com".to_owned());
        user.claims.name = Some("Alice".to_owned());
        let facts =
            ClaimFacts { sub: "s", user: &user, roles: &sample::words("editor"), groups: &sample::words("/staff") };
        Value::Object(deliver(&facts, &sample::words(names), registered))
    }

    #[test]
    fn each_claim_is_given_alone() {
        assert_eq!(delivered("name", "openid profile"), json!({"name": "Alice"}));
        assert_eq!(delivered("email_verified", "email"), json!({"email_verified": false}));
        assert_eq!(delivered("roles name", "roles profile"), json!({"roles": ["editor"], "name": "Alice"}));
        // Nothing is known of it.
        assert_eq!(delivered("phone_number", "phone"), json!({}));
    }

    #[test]
    fn what_the_client_did_not_register_is_not_given() {
        assert_eq!(delivered("name email", "openid email"), json!({"email": "alice@example.com"}));
        assert_eq!(delivered("name", "openid profiles xprofile"), json!({}));
        // `sub` comes always, and not by this way; what is unknown comes never.
        assert_eq!(delivered("sub password acr", "openid profile"), json!({}));
    }

    #[test]
    fn what_a_scope_gives_is_not_given_twice() {
        let user = sample::user();
        let facts = ClaimFacts { sub: "s", user: &user, roles: &sample::words("editor"), groups: &[] };
        let given = |names: &str, granted: &str| {
            beside(&facts, &sample::words(names), &sample::words(granted), "openid profile roles")
        };
        assert_eq!(given("", "openid"), None);
        assert_eq!(
            given("preferred_username roles", "openid profile"),
            json!({"roles": ["editor"]}).as_object().cloned()
        );
    }

    #[test]
    fn what_a_grant_keeps_is_read_back() {
        let claims = RequestedClaims { userinfo: sample::words("name email"), id_token: sample::words("roles") };
        let text = claims.to_text().unwrap();
        let kept: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(kept, json!({"userinfo": {"email": null, "name": null}, "id_token": {"roles": null}}));
        let mut back = RequestedClaims::from_text(&text);
        back.userinfo.sort();
        assert_eq!(back.userinfo, ["email", "name"]);
        assert_eq!((back.scopes(), back.id_token), (vec!["email", "profile", "roles"], sample::words("roles")));
        assert_eq!(RequestedClaims::default().to_text(), None);
        for text in ["", "{", "[]", "{\"userinfo\":[\"name\"]}", "{\"userinfo\":null}"] {
            assert!(RequestedClaims::from_text(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn every_claim_that_can_be_asked_for_is_listed_and_has_a_scope() {
        for (name, scope) in CLAIMS {
            assert!(SUPPORTED.contains(&name) && super::super::scope::STANDARD.contains(&scope), "{name}");
        }
        assert_eq!(scope_of("sub"), None);
        assert_eq!(scope_of("name#de"), None);
    }
}
