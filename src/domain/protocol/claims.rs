//! Claims about a person by scope, for userinfo, plain or signed: OpenID Connect Core sections 5.1, 5.3 and 5.4.
//!
//! Each claim has its JSON type, an absent or blank one is left out, nothing is made up but the full
//! name, which is composed of given and family name.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::scope::{GROUPS, ROLES};
use crate::model::user::{Address, StandardClaims, User};

/// Every claim that userinfo or an ID token can hold, for discovery.
pub const SUPPORTED: [&str; 34] = [
    "sub",
    "iss",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "acr",
    "amr",
    "azp",
    "at_hash",
    "c_hash",
    "sid",
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "updated_at",
    "email",
    "email_verified",
    "phone_number",
    "phone_number_verified",
    "address",
    "roles",
    "groups",
];

/// A userinfo answer, written in one pass.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct UserinfoClaims<'a> {
    sub: &'a str,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    profile: Option<Person<'a>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    email: Option<Email<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<AddressClaim<'a>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    phone: Option<Phone<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'a [String]>,
    #[serde(flatten)]
    requested: Option<Map<String, Value>>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Person<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    given_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    family_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    middle_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nickname: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    website: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gender: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    birthdate: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zoneinfo: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locale: Option<&'a str>,
    updated_at: i64,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Email<'a> {
    email: &'a str,
    email_verified: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Phone<'a> {
    phone_number: &'a str,
    phone_number_verified: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct AddressClaim<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    formatted: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    street_address: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locality: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    postal_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<&'a str>,
}

/// What is known of the person.
#[derive(Clone, Copy)]
pub struct ClaimFacts<'a> {
    /// The person's `sub`, as the client knows it.
    pub sub: &'a str,
    /// The account.
    pub user: &'a User,
    /// Her roles as the client is to see them.
    pub roles: &'a [String],
    /// Paths of her groups.
    pub groups: &'a [String],
}

impl<'a> UserinfoClaims<'a> {
    /// The claims that the scopes ask for.
    #[must_use]
    pub fn new(facts: &ClaimFacts<'a>, scope: &[String]) -> Self {
        let has = |name: &str| scope.iter().any(|each| each == name);
        let claims = &facts.user.claims;
        Self {
            sub: facts.sub,
            profile: has("profile").then(|| profile(facts.user)),
            email: has("email").then(|| email(claims)).flatten(),
            address: has("address").then(|| address(claims.address.as_ref()?)).flatten(),
            phone: has("phone").then(|| phone(claims)).flatten(),
            roles: has(ROLES).then_some(facts.roles),
            groups: has(GROUPS).then_some(facts.groups),
            requested: None,
        }
    }

    /// With claims that were asked for by name; none of them is among those of the scopes.
    #[must_use]
    pub fn with(mut self, requested: Option<Map<String, Value>>) -> Self {
        self.requested = requested;
        self
    }

    /// The body.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The same claims for an ID token, which says of itself whom it speaks of.
    #[must_use]
    pub fn beside_sub(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut claims)) => {
                claims.remove("sub");
                claims
            }
            _ => Map::new(),
        }
    }
}

/// Signed userinfo (OpenID Connect Core 5.3.2): the same claims, with whom they come from and whom they are for.
#[derive(Debug, Serialize)]
pub struct SignedUserinfo<'a> {
    /// The issuer.
    pub iss: &'a str,
    /// The `client_id`.
    pub aud: &'a str,
    /// The claims of the plain answer.
    #[serde(flatten)]
    pub claims: UserinfoClaims<'a>,
}

impl SignedUserinfo<'_> {
    /// `typ` of its header.
    pub const TYP: &'static str = "JWT";

    /// The payload.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A blank text is no claim.
#[expect(clippy::ref_option, reason = "every caller hands a field")]
fn filled(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

fn profile(user: &User) -> Person<'_> {
    let claims = &user.claims;
    Person {
        name: name(claims),
        given_name: filled(&claims.given_name),
        family_name: filled(&claims.family_name),
        middle_name: filled(&claims.middle_name),
        nickname: filled(&claims.nickname),
        preferred_username: Some(user.username.as_str()).filter(|name| !name.is_empty()),
        profile: filled(&claims.profile),
        picture: filled(&claims.picture),
        website: filled(&claims.website),
        gender: filled(&claims.gender),
        birthdate: filled(&claims.birthdate),
        zoneinfo: filled(&claims.zoneinfo),
        locale: filled(&claims.locale),
        updated_at: user.updated_at.as_secs(),
    }
}

/// The full name, composed where none was set.
#[must_use]
pub fn name(claims: &StandardClaims) -> Option<Cow<'_, str>> {
    if let Some(name) = filled(&claims.name) {
        return Some(Cow::Borrowed(name));
    }
    match (filled(&claims.given_name), filled(&claims.family_name)) {
        (Some(given), Some(family)) => Some(Cow::Owned(format!("{given} {family}"))),
        (Some(one), None) | (None, Some(one)) => Some(Cow::Borrowed(one)),
        (None, None) => None,
    }
}

fn email(claims: &StandardClaims) -> Option<Email<'_>> {
    filled(&claims.email).map(|email| Email { email, email_verified: claims.email_verified })
}

fn phone(claims: &StandardClaims) -> Option<Phone<'_>> {
    filled(&claims.phone_number)
        .map(|phone_number| Phone { phone_number, phone_number_verified: claims.phone_number_verified })
}

fn address(address: &Address) -> Option<AddressClaim<'_>> {
    let claim = AddressClaim {
        formatted: filled(&address.formatted),
        street_address: filled(&address.street_address),
        locality: filled(&address.locality),
        region: filled(&address.region),
        postal_code: filled(&address.postal_code),
        country: filled(&address.country),
    };
    let parts = [claim.formatted, claim.street_address, claim.locality, claim.region, claim.postal_code, claim.country];
    parts.iter().any(Option::is_some).then_some(claim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample;
    use super::*;

    fn full() -> User {
        let some = |text: &str| Some(text.to_owned());
        User {
            claims: StandardClaims {
                name: some("Alice B. Example"),
                given_name: some("Alice"),
                family_name: some("Example"),
                middle_name: some("B."),
                nickname: some("al"),
                profile: some("https://example.com/alice"),
                picture: some("https://example.com/alice.png"),
                website: some("https://alice.example"),
                email: some("alice@example.com"),
                email_verified: true,
                gender: some("female"),
                birthdate: some("1990-01-31"),
                zoneinfo: some("Europe/Berlin"),
                locale: some("de-DE"),
                phone_number: some("+49301234"),
                phone_number_verified: false,
                address: Some(Address { locality: some("Berlin"), country: some("DE"), ..Address::default() }),
            },
            ..sample::user()
        }
    }

    fn answer(user: &User, scope: &str) -> Value {
        let facts =
            ClaimFacts { sub: &user.sub, user, roles: &sample::words("editor"), groups: &sample::words("/staff") };
        let bytes = UserinfoClaims::new(&facts, &sample::words(scope)).to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn members(value: &Value) -> Vec<&str> {
        // Sorted here: a map keeps the order sent when another crate of the build asks for that.
        let mut members: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        members
    }

    #[test]
    fn openid_alone_gives_the_subject_alone() {
        assert_eq!(answer(&full(), "openid"), json!({"sub": "sub-alice"}));
    }

    #[test]
    fn profile_gives_all_fourteen_claims_and_nothing_else() {
        let got = answer(&full(), "openid profile");
        let want = [
            "birthdate",
            "family_name",
            "gender",
            "given_name",
            "locale",
            "middle_name",
            "name",
            "nickname",
            "picture",
            "preferred_username",
            "profile",
            "sub",
            "updated_at",
            "website",
            "zoneinfo",
        ];
        assert_eq!(members(&got), want);
        assert_eq!(got["updated_at"], json!(1_799_995_000));
        assert_eq!(got["preferred_username"], "alice");
        assert_eq!(got["name"], "Alice B. Example");
    }

    #[test]
    fn each_other_scope_gives_its_own_with_the_right_types() {
        let user = full();
        let email = json!({"sub": "sub-alice", "email": "alice@example.com", "email_verified": true});
        assert_eq!(answer(&user, "openid email"), email);
        let phone = json!({"sub": "sub-alice", "phone_number": "+49301234", "phone_number_verified": false});
        assert_eq!(answer(&user, "openid phone"), phone);
        let address = json!({"sub": "sub-alice", "address": {"locality": "Berlin", "country": "DE"}});
        assert_eq!(answer(&user, "openid address"), address);
        let roles = json!({"sub": "sub-alice", "roles": ["editor"], "groups": ["/staff"]});
        assert_eq!(answer(&user, "roles groups"), roles);
        assert_eq!(members(&answer(&user, "openid profile email address phone roles groups")).len(), 22);
    }

    #[test]
    fn absent_and_blank_claims_are_left_out() {
        let mut user = sample::user();
        user.claims.nickname = Some("  ".to_owned());
        user.claims.email_verified = true;
        user.claims.address = Some(Address { region: Some(String::new()), ..Address::default() });
        let got = answer(&user, "openid profile email address phone");
        assert_eq!(members(&got), ["preferred_username", "sub", "updated_at"]);
    }

    #[test]
    fn a_name_is_composed_when_absent() {
        let claims = |given: Option<&str>, family: Option<&str>| StandardClaims {
            given_name: given.map(str::to_owned),
            family_name: family.map(str::to_owned),
            ..StandardClaims::default()
        };
        let composed = |given, family| name(&claims(given, family)).map(Cow::into_owned);
        assert_eq!(composed(Some("Alice"), Some("Example")).as_deref(), Some("Alice Example"));
        assert_eq!(composed(None, Some("Example")).as_deref(), Some("Example"));
        assert_eq!(composed(Some("Alice"), Some("")).as_deref(), Some("Alice"));
        assert_eq!(composed(None, None), None);
    }

    #[test]
    fn every_claim_that_is_given_is_listed() {
        let all = answer(&full(), "openid profile email address phone roles groups");
        assert!(members(&all).iter().all(|member| SUPPORTED.contains(member)));
    }
}
