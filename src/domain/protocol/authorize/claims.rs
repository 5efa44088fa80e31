//! `claims` (OpenID Connect Core 5.5): single claims, for userinfo or for the ID token. A wish that cannot be
//! fulfilled is left out, with three exceptions: a `sub` asked for by value must be that person's (Core 5.5.1),
//! an essential `acr` with values must be reached (Core 5.5.1.1), and what cannot be read is refused, since
//! nobody could tell what it left out.
//!
//! Names with a language tag (Core 5.2) are left out like unknown ones: claims are kept in one language.

use serde_json::{Map, Value};

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::refusal::{OauthCode, Refusal};
use crate::protocol::requested_claims::is_deliverable;
use crate::protocol::strict_json;

/// Bytes of the parameter at most.
const TEXT_MAX: usize = 8 * 1024;
/// Lists and objects inside each other: parameter, place, claim, `values`, and what a value may hold itself.
const DEPTH_MAX: usize = 8;
/// Claims in one place at most.
const CLAIMS_MAX: usize = 100;
/// Values of one claim at most.
const VALUES_MAX: usize = 16;

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let Some(text) = asked.params.get("claims") else { return Ok(()) };
    let wishes = parse(text)?;
    let registered = &asked.client.metadata.scope;
    let deliverable = |wishes: &[Wish]| -> Vec<String> {
        wishes.iter().filter(|wish| is_deliverable(&wish.name, registered)).map(|wish| wish.name.clone()).collect()
    };
    request.claims.userinfo = deliverable(&wishes.userinfo);
    request.claims.id_token = deliverable(&wishes.id_token);
    for wish in wishes.userinfo.iter().chain(&wishes.id_token).filter(|wish| wish.name == "sub") {
        subject(wish, request)?;
    }
    // `acr` and `auth_time` stand in each ID token and nowhere else.
    for wish in wishes.id_token.iter().filter(|wish| wish.name == "acr" && wish.essential) {
        request.acr_demanded = wish.texts().unwrap_or_else(|| vec![String::new()]);
    }
    let auth_time = wishes.id_token.iter().any(|wish| wish.name == "auth_time" && wish.essential);
    request.require_auth_time |= auth_time;
    Ok(())
}

/// The one person who may be answered about; together with `id_token_hint` both must name her.
fn subject(wish: &Wish, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let refused = |reason, description| Err(Refusal::new(OauthCode::InvalidRequest, reason, description));
    if wish.values.is_empty() {
        return Ok(());
    }
    let texts = wish.texts();
    let Some([sub]) = texts.as_deref() else {
        return refused("claims_sub", "claims may ask for sub by one value only, a text");
    };
    if request.hint_sub.as_ref().is_some_and(|hinted| hinted != sub) {
        return refused("claims_sub_differs", "claims asks for another sub than the rest of the request names");
    }
    request.hint_sub = Some(sub.clone());
    Ok(())
}

/// The parameter as it was read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wishes {
    userinfo: Vec<Wish>,
    id_token: Vec<Wish>,
}

/// One claim that is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    name: String,
    essential: bool,
    /// `value`, or `values`.
    values: Vec<Value>,
}

impl Wish {
    /// The values, if all of them are texts; none at all for no values.
    fn texts(&self) -> Option<Vec<String>> {
        self.values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
    }
}

fn malformed() -> Refusal {
    Refusal::new(
        OauthCode::InvalidRequest,
        "claims_malformed",
        "claims must be a JSON object of at most 8 KiB, each member once, with userinfo and id_token, \
         each an object of claims that are null or have essential, value or values (OpenID Connect Core 5.5)",
    )
}

fn parse(text: &str) -> Result<Wishes, Refusal> {
    if text.len() > TEXT_MAX {
        return Err(malformed());
    }
    let places = strict_json::object(text.as_bytes(), DEPTH_MAX).map_err(|_| malformed())?;
    let place = |name| match places.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(claims)) if claims.len() <= CLAIMS_MAX => claims.iter().map(wish).collect(),
        Some(_) => Err(malformed()),
    };
    Ok(Wishes { userinfo: place("userinfo")?, id_token: place("id_token")? })
}

fn wish((name, value): (&String, &Value)) -> Result<Wish, Refusal> {
    let mut wish = Wish { name: name.clone(), essential: false, values: Vec::new() };
    match value {
        Value::Null => {}
        Value::Object(members) => details(members, &mut wish)?,
        _ => return Err(malformed()),
    }
    Ok(wish)
}

/// Core 5.5.1; members that are not known are ignored.
fn details(members: &Map<String, Value>, wish: &mut Wish) -> Result<(), Refusal> {
    match members.get("essential") {
        None => {}
        Some(Value::Bool(essential)) => wish.essential = *essential,
        Some(_) => return Err(malformed()),
    }
    wish.values = match (members.get("value"), members.get("values")) {
        (None, None) => Vec::new(),
        (Some(value), None) => vec![value.clone()],
        (None, Some(Value::Array(values))) if (1..=VALUES_MAX).contains(&values.len()) => values.clone(),
        _ => return Err(malformed()),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::example::{client, outcome_for, refused, request};
    use super::super::table::Outcome;
    use super::*;

    fn asked(text: &str) -> AuthorizeRequest {
        request(&[("claims", text)])
    }

    #[test]
    fn claims_are_taken_by_place_as_far_as_their_scope_is_registered() {
        for (text, userinfo, id_token) in [
            (r#"{"userinfo":{"name":{"essential":true},"email":null}}"#, "email name", ""),
            (r#"{"id_token":{"nickname":null,"auth_time":{"essential":true}}}"#, "", "nickname"),
            (
                r#"{"userinfo":{"given_name":{"value":"A","x":1}},"id_token":{"email":{"values":["a"]}}}"#,
                "given_name",
                "email",
            ),
            // Not registered for this client, unknown, in a language, or none of ours to give.
            (r#"{"userinfo":{"phone_number":null,"roles":null,"http://x/y":null,"name#de":null,"sub":null}}"#, "", ""),
            (r#"{"userinfo":null,"verified":{"x":[1]}}"#, "", ""),
            ("{}", "", ""),
        ] {
            let claims = asked(text).claims;
            let sorted = |mut names: Vec<String>| {
                names.sort();
                names.join(" ")
            };
            assert_eq!(
                (sorted(claims.userinfo).as_str(), sorted(claims.id_token).as_str()),
                (userinfo, id_token),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let many = format!(
            "{{\"userinfo\":{{{}}}}}",
            (0..=CLAIMS_MAX).map(|n| format!("\"c{n}\":null")).collect::<Vec<_>>().join(",")
        );
        let long = format!("{{\"x\":\"{}\"}}", "x".repeat(TEXT_MAX));
        let deep = format!("{{\"x\":{}{}}}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
        for text in [
            "x",
            "[]",
            "null",
            "{",
            "{} {}",
            r#"{"userinfo":[]}"#,
            r#"{"userinfo":"name"}"#,
            r#"{"userinfo":{"name":true}}"#,
            r#"{"userinfo":{"name":{"essential":"true"}}}"#,
            r#"{"userinfo":{"name":{"values":"x"}}}"#,
            r#"{"userinfo":{"name":{"values":[]}}}"#,
            r#"{"userinfo":{"name":{"value":"x","values":["x"]}}}"#,
            r#"{"userinfo":{"name":null,"name":null}}"#,
            r#"{"userinfo":{},"userinfo":{"email":null}}"#,
            &many,
            &long,
            &deep,
        ] {
            assert_eq!(refused(&[("claims", text)]), (OauthCode::InvalidRequest, "claims_malformed"), "{text}");
        }
    }

    #[test]
    fn a_sub_by_value_names_the_only_person_who_will_do() {
        for text in [
            r#"{"id_token":{"sub":{"value":"alice"}}}"#,
            r#"{"userinfo":{"sub":{"values":["alice"]}},"id_token":{"sub":{"essential":true,"value":"alice"}}}"#,
        ] {
            assert_eq!(asked(text).hint_sub.as_deref(), Some("alice"), "{text}");
        }
        assert_eq!(asked(r#"{"id_token":{"sub":{"essential":true}}}"#).hint_sub, None);
        for (text, reason) in [
            (r#"{"id_token":{"sub":{"values":["a","b"]}}}"#, "claims_sub"),
            (r#"{"id_token":{"sub":{"value":7}}}"#, "claims_sub"),
            (r#"{"userinfo":{"sub":{"value":"a"}},"id_token":{"sub":{"value":"b"}}}"#, "claims_sub_differs"),
        ] {
            assert_eq!(refused(&[("claims", text)]), (OauthCode::InvalidRequest, reason), "{text}");
        }
    }

    #[test]
    fn only_an_essential_acr_with_values_demands_anything() {
        for (text, demanded) in [
            (r#"{"id_token":{"acr":{"essential":true,"values":["phr","aal2"]}}}"#, &["phr", "aal2"][..]),
            (r#"{"id_token":{"acr":{"essential":true,"value":"aal1"}}}"#, &["aal1"]),
            (r#"{"id_token":{"acr":{"essential":true}}}"#, &[]),
            (r#"{"id_token":{"acr":{"values":["phr"]}}}"#, &[]),
            (r#"{"id_token":{"acr":{"essential":false,"value":"phr"}}}"#, &[]),
            (r#"{"userinfo":{"acr":{"essential":true,"value":"phr"}}}"#, &[]),
            // No text is the name of a class.
            (r#"{"id_token":{"acr":{"essential":true,"value":2}}}"#, &[""]),
        ] {
            assert_eq!(asked(text).acr_demanded, demanded, "{text}");
        }
    }

    #[test]
    fn an_essential_auth_time_is_required() {
        assert!(asked(r#"{"id_token":{"auth_time":{"essential":true}}}"#).require_auth_time);
        assert!(!asked(r#"{"id_token":{"auth_time":null}}"#).require_auth_time);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{1,120}") {
            prop_assert!(!matches!(outcome_for(&client(), &[("claims", &text)]), Outcome::Page(_)));
        }
    }
}
