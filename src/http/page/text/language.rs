//! The languages, their names, directions, plural rules and ways to write numbers.

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// English with accents and 40 % longer: tests look for what does not fit. Never negotiated.
    Xa,
    /// English written from right to left: tests look for what does not turn. Never negotiated.
    Xb,
}

/// A plural category of CLDR, as far as our languages use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plural {
    /// Exactly one.
    One,
    /// Everything else.
    Other,
}

impl Plural {
    /// As written in the catalogue.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Other => "other",
        }
    }
}

impl Language {
    /// What people can choose.
    pub const ALL: [Self; 2] = [Self::En, Self::De];

    /// BCP 47 tag.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Xa => "en-XA",
            Self::Xb => "ar-XB",
        }
    }

    /// Its name in itself.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::En | Self::Xa | Self::Xb => "English",
            Self::De => "Deutsch",
        }
    }

    /// Reading direction for `dir`.
    #[must_use]
    pub fn dir(self) -> &'static str {
        if self == Self::Xb { "rtl" } else { "ltr" }
    }

    /// The language of a tag (`de`, `de-AT`, `DE_at`), if it is one that people can choose.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next()?;
        Self::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(primary))
    }

    /// Which plural form a number takes.
    pub(super) fn plural(self, n: u64) -> Plural {
        match self {
            Self::En | Self::De | Self::Xa | Self::Xb => {
                if n == 1 {
                    Plural::One
                } else {
                    Plural::Other
                }
            }
        }
    }

    /// A number with the language's thousands separator.
    pub(super) fn number(self, n: u64) -> String {
        let separator = match self {
            Self::De => '.',
            Self::En | Self::Xa | Self::Xb => ',',
        };
        let digits = n.to_string();
        let mut text = String::with_capacity(digits.len() + digits.len() / 3);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(separator);
            }
            text.push(digit);
        }
        text
    }
}
