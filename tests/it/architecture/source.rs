//! Reads Rust sources just far enough for the rules in `architecture.rs`: tokens with comments and
//! literals removed, the paths that a file names (groups taken apart, `super` resolved), its
//! functions. Not a parser: macros are read as the tokens they hold.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::tokens::{Token, tokens};

/// A path as named: `["domain", "model", "realm"]` from the crate's root, or an external crate's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    /// Resolved to this package's tree (`domain` stands for the member).
    Ours(Vec<String>),
    /// Begins with a word that is neither `crate`, `self` nor `super`.
    Other(Vec<String>),
}

/// A function: its name, where it stands, lines from `fn` to the closing brace, parameters but `self`.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
    pub(crate) parameters: usize,
}

/// One source file.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the repository's root.
    pub(crate) path: String,
    /// Its module, `["http", "oidc", "token"]`; empty for `main.rs` and `lib.rs`.
    pub(crate) module: Vec<String>,
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
}

impl Source {
    pub(crate) fn new(path: &str, text: String) -> Self {
        let tokens = tokens(&text);
        Self { path: path.to_owned(), module: module_of(path), text, tokens }
    }

    /// Every path that the file names.
    pub(crate) fn names(&self) -> BTreeSet<Named> {
        let mut found = BTreeSet::new();
        let mut inline: Vec<(String, usize)> = Vec::new();
        let mut depth = 0_usize;
        let mut at = 0;
        while at < self.tokens.len() {
            let word = self.word(at);
            match word {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inline.retain(|(_, opened)| *opened <= depth);
                }
                "mod" if self.word(at + 2) == "{" => inline.push((self.word(at + 1).to_owned(), depth + 1)),
                _ => {}
            }
            let starts = is_word(word) && self.word(at + 1) == "::" && (at == 0 || self.word(at - 1) != "::");
            if starts && self.word(at.wrapping_sub(1)) != "$" {
                let mut module = self.module.clone();
                module.extend(inline.iter().map(|(name, _)| name.clone()));
                let mut paths = Vec::new();
                let after = self.tree(at, &[], &mut paths);
                found.extend(paths.into_iter().filter_map(|path| resolve(&path, &module, self.member())));
                // A group holds braces of its own, balanced: skipping it keeps `depth` right.
                at = after;
            } else {
                at += 1;
            }
        }
        let through_imports: Vec<Named> = found.iter().filter_map(|named| expand(named, &found)).collect();
        found.extend(through_imports);
        found
    }

    /// Functions outside of `mod tests`.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        let end = self.tests_start().unwrap_or(self.tokens.len());
        for at in 0..end {
            if self.word(at) == "fn"
                && is_word(self.word(at + 1))
                && let Some(function) = self.function(at)
            {
                found.push(function);
            }
        }
        found
    }

    /// Whether the tokens hold this sequence.
    pub(crate) fn has(&self, sequence: &[&str]) -> bool {
        self.tokens
            .windows(sequence.len())
            .any(|window| window.iter().zip(sequence).all(|(token, text)| token.text == *text))
    }

    pub(crate) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    fn member(&self) -> &[String] {
        if self.module.first().is_some_and(|room| room == "domain") { &self.module[..1] } else { &[] }
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    fn tests_start(&self) -> Option<usize> {
        (0..self.tokens.len())
            .find(|at| self.word(*at) == "mod" && self.word(at + 1) == "tests" && self.word(at + 2) == "{")
    }

    /// Reads one tree of a `use`, or a path in an expression; returns the place behind it.
    fn tree(&self, mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
        let mut path = before.to_vec();
        loop {
            match self.word(at) {
                "{" => {
                    at += 1;
                    while self.word(at) != "}" && at < self.tokens.len() {
                        at = if self.word(at) == "," { at + 1 } else { self.tree(at, &path, found) };
                    }
                    return at + 1;
                }
                "*" => {
                    found.push(path);
                    return at + 1;
                }
                word if is_word(word) => {
                    path.push(word.to_owned());
                    at += 1;
                    if self.word(at) == "::" {
                        at += 1;
                        continue;
                    }
                    if self.word(at) == "as" {
                        at += 2;
                    }
                }
                // `Vec::<u8>::new`, `<` of generics, or something a scanner need not understand.
                _ if path.len() == before.len() => at += 1,
                _ => {}
            }
            found.push(path);
            return at;
        }
    }

    fn function(&self, at: usize) -> Option<Function> {
        let mut place = at + 2;
        // Generics stand between the name and the parameters; `->` in a bound is no closing bracket.
        let mut angle = 0_usize;
        while angle > 0 || self.word(place) != "(" {
            match self.word(place) {
                "<" => angle += 1,
                ">" if self.word(place - 1) != "-" => angle = angle.saturating_sub(1),
                "" => return None,
                _ => {}
            }
            place += 1;
        }
        let (parameters, behind) = self.parameters(place);
        place = behind;
        let mut nested = 0_usize;
        while nested > 0 || self.word(place) != "{" {
            match self.word(place) {
                "(" | "[" => nested += 1,
                ")" | "]" => nested = nested.saturating_sub(1),
                ";" if nested == 0 => return None,
                "" => return None,
                _ => {}
            }
            place += 1;
        }
        let mut depth = 0_usize;
        loop {
            match self.word(place) {
                "{" => depth += 1,
                "}" => depth -= 1,
                "" => return None,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            place += 1;
        }
        let line = self.tokens[at].line;
        Some(Function {
            name: self.word(at + 1).to_owned(),
            line,
            lines: self.tokens[place].line - line + 1,
            parameters,
        })
    }

    /// Counts what stands in the brackets that open at `place`; returns the place behind them.
    fn parameters(&self, place: usize) -> (usize, usize) {
        let (mut at, mut round, mut angle, mut commas, mut any, mut receiver) =
            (place, 0_usize, 0_usize, 0, false, false);
        loop {
            match self.word(at) {
                "(" | "[" | "{" => round += 1,
                ")" | "]" | "}" => {
                    round -= 1;
                    if round == 0 {
                        // A trailing comma begins no parameter.
                        let all = commas + usize::from(any && self.word(at - 1) != ",");
                        return (all - usize::from(receiver), at + 1);
                    }
                }
                "<" => angle += 1,
                ">" if self.word(at - 1) != "-" => angle = angle.saturating_sub(1),
                "," if round == 1 && angle == 0 => commas += 1,
                "" => return (commas, at),
                "self" if round == 1 && commas == 0 && self.word(at + 1) != "::" => receiver = true,
                _ => {}
            }
            any |= at > place;
            at += 1;
        }
    }
}

/// From the repository's root: every `.rs` file below `folder`.
pub(crate) fn sources(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    walk(&root.join(folder), &mut |path| files.push(path.clone()));
    let mut all: Vec<Source> = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            Source::new(&name, std::fs::read_to_string(&path).expect("a readable source"))
        })
        .collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(!all.is_empty(), "{folder} holds no sources");
    all
}

/// Every file below `folder`, build results left out.
pub(crate) fn walk(folder: &Path, visit: &mut dyn FnMut(&PathBuf)) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                walk(&path, visit);
            }
        } else {
            visit(&path);
        }
    }
}

fn module_of(path: &str) -> Vec<String> {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    let mut parts: Vec<String> = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

fn resolve(path: &[String], module: &[String], member: &[String]) -> Option<Named> {
    let first = path.first()?;
    let mut base = match first.as_str() {
        "crate" => member.to_vec(),
        "self" => module.to_vec(),
        "super" => module[..module.len().saturating_sub(1)].to_vec(),
        "doorward" => Vec::new(),
        "doorward_domain" => vec!["domain".to_owned()],
        _ => return Some(Named::Other(path.to_vec())),
    };
    for part in &path[1..] {
        match part.as_str() {
            "super" => {
                base.pop();
            }
            "self" => {}
            _ => base.push(part.clone()),
        }
    }
    Some(Named::Ours(base))
}

/// `repo::user::find` after `use crate::store::repo` is `store::repo::user::find`.
fn expand(named: &Named, all: &BTreeSet<Named>) -> Option<Named> {
    let Named::Other(path) = named else { return None };
    let first = path.first()?;
    all.iter().find_map(|other| match other {
        Named::Ours(base) if base.last() == Some(first) => Some(Named::Ours([base.as_slice(), &path[1..]].concat())),
        _ => None,
    })
}

fn is_word(text: &str) -> bool {
    text.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_')
}
