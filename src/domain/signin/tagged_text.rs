//! The written form of what our cookies and the handles in our pages' addresses hold: a version, the
//! content, and a tag over both, in base64url without padding. The form is checked here, the tag by whoever
//! holds the key, and both before anything is looked up (`security-design` rules 7 and 13): there is one
//! text for a content, of one length.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const VERSION: u8 = 1;
/// Bytes of the tag.
pub const TAG: usize = 16;

/// What a text holds. Nothing of it may be believed before the tag is found right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagged<const N: usize> {
    /// What the tag covers: version and content.
    pub covered: Vec<u8>,
    /// The content.
    pub content: [u8; N],
    /// The tag.
    pub tag: [u8; TAG],
}

/// Writes `parts` as one content, with the tag that `tag` computes.
pub fn write(parts: &[&[u8]], tag: impl FnOnce(&[u8]) -> [u8; TAG]) -> String {
    let mut bytes = vec![VERSION];
    for part in parts {
        bytes.extend_from_slice(part);
    }
    let tag = tag(&bytes);
    bytes.extend_from_slice(&tag);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads a content of `N` bytes: exact length, canonical spelling, our version, or nothing.
#[must_use]
pub fn read<const N: usize>(text: &str) -> Option<Tagged<N>> {
    // 4 signs for 3 bytes, rounded up without padding.
    if text.len() != ((1 + N + TAG) * 4).div_ceil(3) {
        return None;
    }
    let mut covered = URL_SAFE_NO_PAD.decode(text).ok()?;
    let tag = *covered.last_chunk::<TAG>()?;
    covered.truncate(1 + N);
    match covered.split_first() {
        Some((&VERSION, content)) => Some(Tagged { content: content.try_into().ok()?, tag, covered }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::{SHA256, digest};
    use proptest::prelude::*;

    use super::*;

    fn sum(bytes: &[u8]) -> [u8; TAG] {
        let hash = digest(&SHA256, bytes);
        *hash.as_ref().first_chunk().unwrap()
    }

    #[test]
    fn the_form_is_version_content_tag() {
        let text = write(&[b"ab", b"c"], |covered| {
            assert_eq!(covered, b"\x01abc");
            [7; TAG]
        });
        assert_eq!(text, URL_SAFE_NO_PAD.encode([&b"\x01abc"[..], &[7; TAG]].concat()));
        let read = read::<3>(&text).unwrap();
        assert_eq!((&read.covered[..], read.content, read.tag), (&b"\x01abc"[..], *b"abc", [7; TAG]));
    }

    #[test]
    fn another_length_version_or_spelling_is_nothing() {
        let good = write(&[&[9; 16]], sum);
        assert!(read::<16>(&good).is_some());
        for other in ["", &good[1..], &format!("{good}A"), &format!("{good}="), &format!("/{}", &good[1..])] {
            assert!(read::<16>(other).is_none(), "{other}");
        }
        assert!(read::<15>(&good).is_none() && read::<17>(&good).is_none() && read::<32>(&good).is_none());
        for version in [0, 2, 255] {
            let text = URL_SAFE_NO_PAD.encode([&[version][..], &[9; 16], &[0; TAG]].concat());
            assert_eq!(read::<16>(&text), None, "{version}");
        }
        // 49 bytes end in a sign of which four bits count: the other spellings are refused.
        let text = write(&[&[9; 32]], sum);
        let last = text.chars().last().unwrap();
        let others = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_']).filter(|sign| *sign != last);
        let respelled = others.filter(|sign| {
            let other = read::<32>(&format!("{}{sign}", &text[..text.len() - 1]));
            other.is_some_and(|other| other == read::<32>(&text).unwrap())
        });
        assert_eq!(respelled.count(), 0);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(content in any::<[u8; 32]>()) {
            let text = write(&[&content[..16], &content[16..]], sum);
            let read = read::<32>(&text).unwrap();
            prop_assert_eq!(read.content, content);
            prop_assert_eq!(read.tag, sum(&read.covered));
        }

        #[test]
        fn every_text_that_can_be_read_is_the_one_that_is_written(text in "[A-Za-z0-9_-]{44}|\\PC{0,60}") {
            if let Some(read) = read::<16>(&text) {
                prop_assert_eq!(write(&[&read.content], |_| read.tag), text);
            }
        }

        #[test]
        fn a_changed_sign_never_leaves_content_and_tag_fitting(at in 0_usize..44, sign in "[A-Za-z0-9_-]") {
            let text = write(&[&[0x5a; 16]], sum);
            let mut other = text.clone();
            other.replace_range(at..=at, &sign);
            if let Some(read) = read::<16>(&other) {
                prop_assert_eq!(read.tag == sum(&read.covered), other == text);
            }
        }
    }
}
