//! Turns raw values into typed ones and keeps every fault. A section asks for all its settings before
//! it gives up, so that one start shows everything that is wrong.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::error::{Origin, Problem};
use super::key::{Key, Kind};
use super::source::Raw;

/// Longest piece of a bad value that a message repeats.
const SHOWN: usize = 80;

/// Reads typed values. Each method gives `None` after it noted a fault.
pub(super) struct Reader {
    pub(super) values: BTreeMap<&'static str, Raw>,
    pub(super) problems: Vec<Problem>,
    pub(super) dev: bool,
}

impl Reader {
    /// Whether file or environment set it.
    pub(super) fn is_set(&self, key: &Key) -> bool {
        self.values.contains_key(key.name)
    }

    /// Notes a fault of a setting that was read well but does not fit others.
    pub(super) fn fault(&mut self, key: &'static Key, fault: impl Into<String>) {
        let origin = self.values.get(key.name).map_or(Origin::Unset, |raw| raw.origin.clone());
        self.problems.push(Problem {
            key: key.name.to_owned(),
            origin,
            fault: fault.into(),
            allowed: key.allowed.to_owned(),
        });
    }

    /// A setting with a default.
    pub(super) fn parse<T>(&mut self, key: &'static Key, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let text = match self.values.get(key.name) {
            Some(raw) => raw.texts.first().cloned().unwrap_or_default(),
            None => key.default.to_owned(),
        };
        self.understand(key, &text, &read)
    }

    /// A setting that may be absent.
    pub(super) fn optional<T>(
        &mut self,
        key: &'static Key,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Option<T>> {
        if self.is_set(key) { self.parse(key, read).map(Some) } else { Some(None) }
    }

    /// A list, without repeats.
    pub(super) fn list<T: PartialEq>(
        &mut self,
        key: &'static Key,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        debug_assert_eq!(key.kind, Kind::List);
        let texts = match self.values.get(key.name) {
            Some(raw) => raw.texts.clone(),
            None => key.default.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect(),
        };
        let mut items = Vec::new();
        let mut whole = true;
        for text in texts {
            match self.understand(key, &text, &read) {
                Some(item) if items.contains(&item) => {
                    self.fault(key, format!("names {text:?} twice"));
                    whole = false;
                }
                Some(item) => items.push(item),
                None => whole = false,
            }
        }
        whole.then_some(items)
    }

    /// A whole number within a range.
    pub(super) fn integer<T>(&mut self, key: &'static Key, range: RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<u64> + PartialOrd + std::fmt::Display,
    {
        self.parse(key, |text| within(text, &range))
    }

    /// A whole number within a range; `None` inside for `auto`.
    pub(super) fn integer_or_auto<T>(&mut self, key: &'static Key, range: RangeInclusive<T>) -> Option<Option<T>>
    where
        T: TryFrom<u64> + PartialOrd + std::fmt::Display,
    {
        self.parse(key, |text| if text == "auto" { Ok(None) } else { within(text, &range).map(Some) })
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, key: &'static Key) -> Option<bool> {
        self.parse(key, |text| text.parse().map_err(|_| "is neither true nor false".to_owned()))
    }

    fn understand<T>(&mut self, key: &'static Key, text: &str, read: &impl Fn(&str) -> Result<T, String>) -> Option<T> {
        match read(text) {
            Ok(value) => Some(value),
            Err(fault) if key.secret => {
                self.fault(key, fault);
                None
            }
            Err(fault) => {
                let shown: String = text.chars().take(SHOWN).collect();
                self.fault(key, format!("{shown:?} {fault}"));
                None
            }
        }
    }
}

fn within<T>(text: &str, range: &RangeInclusive<T>) -> Result<T, String>
where
    T: TryFrom<u64> + PartialOrd + std::fmt::Display,
{
    // A plus sign would be read too; one spelling is enough.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse::<u64>().ok()).flatten().ok_or("is not a whole number")?;
    T::try_from(number)
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("is not within {} to {}", range.start(), range.end()))
}
