//! Reading the `Cookie` header (RFC 6265bis sections 5.8.4 and 8.6). A browser sends every cookie that any
//! page of the host has set, in an order and number that strangers can bring about; only the one asked for
//! is looked at, and two of one name count as none (`security-design` rule 26).

/// The value of the one cookie called `name`. `headers` are the request's `Cookie` headers, of which HTTP/2
/// allows several. What other cookies hold, bytes outside ASCII included, takes nothing away from ours.
pub fn one<'a>(headers: impl IntoIterator<Item = &'a [u8]>, name: &str) -> Option<&'a str> {
    let pairs = headers.into_iter().flat_map(|header| header.split(|byte| *byte == b';'));
    let mut values = pairs.filter_map(|pair| {
        let pair = pair.trim_ascii();
        let end = pair.iter().position(|byte| *byte == b'=')?;
        let (key, value) = pair.split_at_checked(end)?;
        (key == name.as_bytes()).then_some(value.get(1..)?)
    });
    let value = values.next()?;
    if values.next().is_some() { None } else { str::from_utf8(value).ok() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_one_cookie_of_the_name_is_found_among_others() {
        for (headers, value) in [
            (&["a=1"][..], Some("1")),
            (&["a="], Some("")),
            (&["a==x=y"], Some("=x=y")),
            (&["b=2; a=1"], Some("1")),
            (&["b=2;a=1"], Some("1")),
            (&["b=2;\t a=1 ;c=3"], Some("1")),
            (&["b=2", "a=1"], Some("1")),
            (&["; ;=;==; x ;a=1;"], Some("1")),
            (&["b=\u{fc}; a=1"], Some("1")),
            (&["a"], None),
            (&["A=1"], None),
            (&["aa=1; xa=1; a =1"], None),
            (&["b=a=1"], None),
            (&["b=\"; a=1\""], Some("1\"")),
            (&[""], None),
            (&[], None),
        ] {
            assert_eq!(one(headers.iter().map(|header| header.as_bytes()), "a"), value, "{headers:?}");
        }
    }

    #[test]
    fn two_of_one_name_are_none_wherever_they_stand() {
        for headers in [&["a=1; a=1"][..], &["a=1; a=2"], &["a=1; b=2; a=3"], &["a=1", "a=1"], &["a=; a=1"]] {
            assert_eq!(one(headers.iter().map(|header| header.as_bytes()), "a"), None, "{headers:?}");
        }
    }

    #[test]
    fn a_value_that_is_no_text_is_none() {
        assert_eq!(one([&b"a=\xff"[..]], "a"), None);
        assert_eq!(one([&b"b=\xff; a=1"[..]], "a"), Some("1"));
    }

    proptest! {
        #[test]
        fn what_is_set_is_read_among_any_others(
            value in "[!#-+\\--:<-\\[\\]-~]{0,40}",
            before in prop::collection::vec(any::<u8>(), 0..60),
            after in "([b-z]{1,5}=[ -:<-~]{0,9}; ?){0,5}",
        ) {
            let before: Vec<u8> = before.into_iter().filter(|byte| !b"a=".contains(byte)).collect();
            let header = [&before[..], b"; our-cookie=", value.as_bytes(), b"; ", after.as_bytes()].concat();
            prop_assert_eq!(one([&header[..]], "our-cookie"), Some(value.trim_ascii()));
            prop_assert_eq!(one([&header[..], &header[..]], "our-cookie"), None);
        }

        #[test]
        fn no_header_makes_it_panic(headers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..4)) {
            if let Some(value) = one(headers.iter().map(Vec::as_slice), "a") {
                let needle = [b"a=", value.as_bytes()].concat();
                prop_assert!(headers.iter().any(|header| header.windows(needle.len()).any(|window| window == needle)));
            }
        }
    }
}
