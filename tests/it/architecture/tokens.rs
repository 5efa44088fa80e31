//! Takes a Rust source apart into words and signs, without comments, literals and lifetimes' quotes.

/// A token: a word, or one sign (`::` is one).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// Takes a text apart; comments, strings, characters, numbers' signs and lifetimes are dropped.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let start = at;
        let here = chars[at];
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        if here == '/' && (next == '/' || next == '*') {
            at = comment_end(&chars, at);
        } else if here == '"' {
            at = string_end(&chars, at);
        } else if here == '\'' {
            at = quote_end(&chars, at);
        } else if here.is_alphabetic() || here == '_' {
            while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                at += 1;
            }
            let word: String = chars[start..at].iter().collect();
            match (word.as_str(), chars.get(at).copied().unwrap_or(' ')) {
                ("r" | "br" | "cr", '"' | '#') if raw_string(&chars, at).is_some() => {
                    at = raw_string(&chars, at).unwrap_or(at);
                }
                ("b" | "c", '"') => at = string_end(&chars, at),
                ("b", '\'') => at = quote_end(&chars, at),
                ("r", '#') => at += 1, // a raw identifier
                _ => found.push(Token { text: word, line }),
            }
        } else if here == ':' && next == ':' {
            found.push(Token { text: "::".to_owned(), line });
            at += 2;
        } else {
            if !here.is_whitespace() {
                found.push(Token { text: here.to_string(), line });
            }
            at += 1;
        }
        line += chars[start..at].iter().filter(|char| **char == '\n').count();
    }
    found
}

fn comment_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 2;
    if chars[start + 1] == '/' {
        while at < chars.len() && chars[at] != '\n' {
            at += 1;
        }
        return at;
    }
    let mut depth = 1;
    while at < chars.len() && depth > 0 {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 1),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 1),
            _ => {}
        }
        at += 1;
    }
    at
}

fn string_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// A character, or a lifetime, which ends where its word ends.
fn quote_end(chars: &[char], start: usize) -> usize {
    if chars.get(start + 1) == Some(&'\\') {
        let mut at = start + 3;
        while at < chars.len() && chars[at] != '\'' {
            at += 1;
        }
        return (at + 1).min(chars.len());
    }
    if chars.get(start + 2) == Some(&'\'') { start + 3 } else { start + 1 }
}

/// Where the raw string whose marks begin at `at` ends; `None` when there is none.
fn raw_string(chars: &[char], at: usize) -> Option<usize> {
    let marks = chars[at..].iter().take_while(|char| **char == '#').count();
    (chars.get(at + marks) == Some(&'"')).then_some(())?;
    let mut place = at + marks + 1;
    loop {
        let rest = chars.get(place..)?;
        if rest.first()? == &'"' && rest.get(1..=marks)?.iter().all(|char| *char == '#') {
            return Some(place + 1 + marks);
        }
        place += 1;
    }
}
