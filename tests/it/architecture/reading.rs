//! The scanner of `source.rs` reads what the rules rest on.

use super::source::{Named, Source};
use super::tokens::tokens;

fn source(path: &str, text: &str) -> Source {
    Source::new(path, text.to_owned())
}

fn ours(text: &str) -> Vec<String> {
    let read = source("src/http/oidc/token.rs", text);
    read.names()
        .into_iter()
        .filter_map(|named| match named {
            Named::Ours(path) => Some(path.join("::")),
            Named::Other(_) => None,
        })
        .collect()
}

#[test]
fn groups_are_taken_apart() {
    let found = ours("use crate::{service::{token, App as Op}, store::*, domain};");
    assert_eq!(found, ["domain", "service::App", "service::token", "store"]);
}

#[test]
fn relative_paths_are_resolved_from_their_module() {
    assert_eq!(ours("use super::super::render::oauth;"), ["http::render::oauth"]);
    assert_eq!(ours("fn f() { self::x::y(); }"), ["http::oidc::token::x::y"]);
    assert_eq!(ours("mod tests { use super::*; } use super::par;"), ["http::oidc::par", "http::oidc::token"]);
}

#[test]
fn a_name_is_followed_through_its_import() {
    let found = ours("use crate::store::repo; fn f() { repo::user::insert(1) }");
    assert!(found.contains(&"store::repo::user::insert".to_owned()), "{found:?}");
}

#[test]
fn comments_strings_and_visibilities_name_nothing() {
    let text = r##"
        // crate::a::b
        /* crate::a /* crate::b */ crate::c */
        pub(crate) fn f<'a>(x: &'a str) -> char { let _ = (r#"crate::"d"#, "\"crate::e", b"crate::f", '"', '\'', b'"'); 'x' }
        pub(in crate::http) struct S;
    "##;
    assert_eq!(ours(text), ["http"]);
}

#[test]
fn members_have_a_root_of_their_own() {
    let read = source("src/domain/protocol/scope.rs", "use crate::model::realm::Realm; use super::pkce;");
    let found: Vec<Named> = read.names().into_iter().collect();
    let path = |text: &str| Named::Ours(text.split("::").map(str::to_owned).collect());
    assert_eq!(found, [path("domain::model::realm::Realm"), path("domain::protocol::pkce")]);
}

#[test]
fn functions_are_measured() {
    let text = "
        impl A {
            async fn one<F: Fn(u8) -> u8>(&self, a: (u8, u8), b: Map<u8, [u8; 2]>,) -> Result<(), E>
            where
                F: Send,
            {
                { }
            }
        }
        trait T { fn declared(&self, x: u8); }
        fn none() {}
        mod tests { fn unmeasured() {} }
    ";
    let found = source("src/a.rs", text).functions();
    let read: Vec<_> =
        found.iter().map(|function| (function.name.as_str(), function.lines, function.parameters)).collect();
    assert_eq!(read, [("one", 6, 2), ("none", 1, 0)]);
}

#[test]
fn lines_are_counted_through_literals() {
    let read = tokens("let a = \"x\ny\";\n/* \n */ end");
    assert_eq!(read.last().map(|token| (token.text.as_str(), token.line)), Some(("end", 4)));
}
