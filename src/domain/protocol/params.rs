//! Parameters of a query or a form body (RFC 6749 sections 3.1, 3.2 and appendix B): decoded exactly
//! once, as UTF-8, with every byte kept. A known single-valued parameter sent twice is a fault that
//! names it, an empty one counts as absent, an unknown one is ignored however often and however
//! broken it comes. Nothing here guesses: a stray `%` or a byte that is not UTF-8 is a fault of that
//! parameter, never silently replaced, so that a filter in front and this server read the same.

use std::borrow::Cow;
use std::fmt;

use super::refusal::{OauthCode, Refusal};

/// Bytes of a whole query or body.
pub const WHOLE_MAX: usize = 64 * 1024;
/// Parameters of one request.
pub const COUNT_MAX: usize = 100;
/// Bytes of a decoded name; no longer name is known, so a longer one is only skipped.
pub const NAME_MAX: usize = 128;
/// Bytes of a decoded value; single parameters have narrower limits of their own.
pub const VALUE_MAX: usize = 16 * 1024;

/// The parameters of one request in the order sent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Params {
    entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    value: Result<String, ValueFault>,
}

/// What is wrong with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueFault {
    Malformed,
    TooLong,
}

/// The request as a whole cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeFault {
    /// More bytes than the limit, [`WHOLE_MAX`] as a rule.
    TooLong,
    /// More than [`COUNT_MAX`] parameters.
    TooMany,
}

/// A known parameter cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamFault {
    /// Sent more than once (RFC 6749 sections 3.1 and 3.2).
    Repeated(String),
    /// Broken percent-encoding or not UTF-8.
    Malformed(String),
    /// More than [`VALUE_MAX`] bytes.
    TooLong(String),
}

impl Params {
    /// Reads `application/x-www-form-urlencoded` bytes.
    pub fn parse(raw: &[u8]) -> Result<Self, WholeFault> {
        Self::parse_up_to(WHOLE_MAX, raw)
    }

    /// As [`Self::parse`], with another limit for the whole.
    pub fn parse_up_to(most: usize, raw: &[u8]) -> Result<Self, WholeFault> {
        if raw.len() > most {
            return Err(WholeFault::TooLong);
        }
        let mut entries = Vec::new();
        let pairs = raw.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
        for (index, pair) in pairs.enumerate() {
            if index >= COUNT_MAX {
                return Err(WholeFault::TooMany);
            }
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = halves.next().unwrap_or_default();
            let value = halves.next().unwrap_or_default();
            // A name that cannot be read is no known name.
            if let Ok(name) = decode(name, NAME_MAX) {
                entries.push(Entry { name, value: decode(value, VALUE_MAX) });
            }
        }
        Ok(Self { entries })
    }

    /// From names and values that are already decoded: pushed or stored requests, and tests.
    #[must_use]
    pub fn from_pairs<N: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let entries =
            pairs.into_iter().map(|(name, value)| Entry { name: name.into(), value: Ok(value.into()) }).collect();
        Self { entries }
    }

    /// Refuses the first of these parameters that is repeated or unreadable. Endpoints call it once
    /// with all single-valued names they know and may then use [`Params::get`].
    pub fn check_single(&self, names: &[&str]) -> Result<(), ParamFault> {
        let mut known: Vec<&str> = Vec::with_capacity(self.entries.len());
        for entry in self.entries.iter().filter(|entry| names.contains(&entry.name.as_str())) {
            if known.contains(&entry.name.as_str()) {
                return Err(ParamFault::Repeated(entry.name.clone()));
            }
            known.push(&entry.name);
        }
        known.into_iter().try_for_each(|name| self.one(name).map(|_| ()))
    }

    /// The value of a single-valued parameter; `None` when absent or empty.
    pub fn one(&self, name: &str) -> Result<Option<&str>, ParamFault> {
        let mut found = self.entries.iter().filter(|entry| entry.name == name);
        let first = found.next();
        if found.next().is_some() {
            return Err(ParamFault::Repeated(name.to_owned()));
        }
        let value = first.map(|entry| entry.text()).transpose()?;
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// The values of a parameter that may repeat (`resource`, RFC 8707 section 2), without empty ones.
    pub fn many(&self, name: &str) -> Result<Vec<&str>, ParamFault> {
        let found = self.entries.iter().filter(|entry| entry.name == name);
        let values: Vec<&str> = found.map(Entry::text).collect::<Result<_, _>>()?;
        Ok(values.into_iter().filter(|value| !value.is_empty()).collect())
    }

    /// The one readable value; `None` when absent, empty, repeated or unreadable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.one(name).ok().flatten()
    }

    /// Whether the name was sent at all, even empty.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// Those parameters whose name is kept, readable or not.
    #[must_use]
    pub fn retained(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self { entries: self.entries.iter().filter(|entry| keep(&entry.name)).cloned().collect() }
    }

    /// With further ones behind them.
    #[must_use]
    pub fn joined<'a>(mut self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.entries.extend(Self::from_pairs(pairs).entries);
        self
    }

    /// Written as a query again, without what cannot be read.
    #[must_use]
    pub fn to_query(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(self.pairs()).finish()
    }

    /// Readable names and values in the order sent, for keeping a request.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|entry| Some((entry.name.as_str(), entry.value.as_deref().ok()?)))
    }
}

impl Entry {
    fn text(&self) -> Result<&str, ParamFault> {
        match &self.value {
            Ok(value) => Ok(value),
            Err(ValueFault::Malformed) => Err(ParamFault::Malformed(self.name.clone())),
            Err(ValueFault::TooLong) => Err(ParamFault::TooLong(self.name.clone())),
        }
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| &entry.name)).finish()
    }
}

impl ParamFault {
    /// Which parameter.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Repeated(name) | Self::Malformed(name) | Self::TooLong(name) => name,
        }
    }
}

impl From<ParamFault> for Refusal {
    fn from(fault: ParamFault) -> Self {
        let (reason, what) = match &fault {
            ParamFault::Repeated(_) => ("parameter_repeated", "is sent more than once"),
            ParamFault::Malformed(_) => ("parameter_malformed", "is not valid percent-encoded UTF-8"),
            ParamFault::TooLong(_) => ("parameter_too_long", "is too long"),
        };
        Self::with(OauthCode::InvalidRequest, reason, &format!("parameter {} {what}", fault.name()))
    }
}

impl From<WholeFault> for Refusal {
    fn from(fault: WholeFault) -> Self {
        match fault {
            WholeFault::TooLong => {
                Self::new(OauthCode::InvalidRequest, "request_too_long", "the request is longer than 64 KiB")
            }
            WholeFault::TooMany => {
                Self::new(OauthCode::InvalidRequest, "too_many_parameters", "the request has more than 100 parameters")
            }
        }
    }
}

/// Decodes one name or value: `+` is a space, `%` and two hexadecimal digits are a byte.
fn decode(raw: &[u8], max: usize) -> Result<String, ValueFault> {
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        match rest.get(at + 1..at + 3) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {}
            _ => return Err(ValueFault::Malformed),
        }
        rest = rest.get(at + 3..).unwrap_or_default();
    }
    let spaced: Cow<'_, [u8]> = if raw.contains(&b'+') {
        Cow::Owned(raw.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect())
    } else {
        Cow::Borrowed(raw)
    };
    let bytes: Vec<u8> = percent_encoding::percent_decode(&spaced).collect();
    if bytes.len() > max {
        return Err(ValueFault::TooLong);
    }
    String::from_utf8(bytes).map_err(|_| ValueFault::Malformed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Params {
        Params::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_value_is_decoded_exactly_once() {
        let params = parse(
            "redirect_uri=https%3A%2F%2Fapp.example%2F%257B123%257D%2F&state=n%2BeBY2D%252F%3D%3D%26x%3D1%20%C3%A9&s=a+b",
        );
        assert_eq!(params.get("redirect_uri"), Some("https://app.example/%7B123%7D/"));
        assert_eq!(params.get("state"), Some("n+eBY2D%2F==&x=1 \u{e9}"));
        assert_eq!(params.get("s"), Some("a b"));
    }

    #[test]
    fn a_known_parameter_sent_twice_is_named() {
        let params = parse("client_id=a&scope=x&foo=1&scope=x&foo=2&foo=%zz");
        assert_eq!(params.check_single(&["client_id", "scope"]), Err(ParamFault::Repeated("scope".to_owned())));
        assert_eq!(params.check_single(&["client_id"]), Ok(()));
        assert_eq!(params.get("scope"), None);
        let refusal = Refusal::from(params.one("scope").unwrap_err());
        assert_eq!(refusal.code, OauthCode::InvalidRequest);
        assert_eq!(refusal.description, "parameter scope is sent more than once");
        // Also when one of the two is empty, or hides behind an escape.
        assert!(parse("scope=&scope=x").check_single(&["scope"]).is_err());
        assert!(parse("scope=y&sc%6Fpe=x").check_single(&["scope"]).is_err());
    }

    #[test]
    fn an_empty_parameter_is_absent_and_one_without_equals_sign_too() {
        let params = parse("prompt=&max_age&&nonce=&");
        for name in ["prompt", "max_age", "nonce", "state"] {
            assert_eq!(params.one(name), Ok(None), "{name}");
        }
        assert!(params.has("prompt") && !params.has("state"));
        assert_eq!(params.many("prompt"), Ok(vec![]));
    }

    #[test]
    fn a_broken_value_is_a_fault_only_where_it_is_read() {
        for broken in ["%", "%4", "%zz", "%ff", "a%C3", "%ED%A0%80"] {
            let params = parse(&format!("state={broken}&client_id=a"));
            assert_eq!(params.one("state"), Err(ParamFault::Malformed("state".to_owned())), "{broken}");
            assert_eq!(params.check_single(&["client_id"]), Ok(()));
        }
        assert_eq!(Params::parse(b"state=\xff").unwrap().get("state"), None);
        assert_eq!(parse("%zz=1&a=b").get("a"), Some("b"));
    }

    #[test]
    fn limits_are_faults_not_surprises() {
        assert_eq!(Params::parse(&vec![b'a'; WHOLE_MAX + 1]), Err(WholeFault::TooLong));
        assert!(Params::parse("a=1&".repeat(COUNT_MAX).as_bytes()).is_ok());
        assert_eq!(Params::parse("a=1&".repeat(COUNT_MAX + 1).as_bytes()), Err(WholeFault::TooMany));
        let long = format!("state={}", "s".repeat(VALUE_MAX));
        assert_eq!(parse(&long).get("state").map(str::len), Some(VALUE_MAX));
        assert_eq!(parse(&format!("{long}s")).one("state"), Err(ParamFault::TooLong("state".to_owned())));
    }

    #[test]
    fn what_may_repeat_keeps_its_order() {
        assert_eq!(parse("resource=b&resource=&resource=a").many("resource"), Ok(vec!["b", "a"]));
    }

    #[test]
    fn values_are_not_in_the_debug_form() {
        assert_eq!(format!("{:?}", parse("client_secret=hush")), "[\"client_secret\"]");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(raw in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(params) = Params::parse(&raw) {
                let _ = params.check_single(&["state", "a", ""]);
                let _ = params.many("a");
            }
        }

        #[test]
        fn every_text_survives_encoding_and_decoding(name in "\\PC{1,20}", value in any::<String>()) {
            let encoded = form_urlencoded::Serializer::new(String::new()).append_pair(&name, &value).finish();
            let params = Params::parse(encoded.as_bytes()).unwrap();
            prop_assert_eq!(params.pairs().next(), Some((name.as_str(), value.as_str())));
        }

        #[test]
        fn well_formed_input_is_read_like_any_form_decoder(raw in "([a-z=&+ ]|%[2-7][0-9a-f]){0,60}") {
            let ours = Params::parse(raw.as_bytes()).unwrap();
            let theirs: Vec<(String, String)> =
                form_urlencoded::parse(raw.as_bytes()).into_owned().collect();
            let ours: Vec<(String, String)> = ours.pairs().map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}
