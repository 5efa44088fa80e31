//! Messages turned into HTML, and the filling of placeholders.

use std::fmt;

/// A piece of HTML that is safe to write as it is: everything in it was escaped when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Markup(String);

impl Markup {
    /// Text without markup.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        let mut html = String::with_capacity(text.len());
        escape(&mut html, text);
        Self(html)
    }

    /// A message whose placeholders are set apart as names, isolated in their direction.
    pub(super) fn bold<'a>(message: &str, value: impl Fn(&str) -> Option<&'a str>) -> Self {
        let mut html = String::with_capacity(message.len() + 48);
        let mut rest = message;
        while let Some((before, name, after)) = next_placeholder(rest) {
            escape(&mut html, before);
            html.push_str("<strong><bdi>");
            escape(&mut html, value(name).unwrap_or(name));
            html.push_str("</bdi></strong>");
            rest = after;
        }
        escape(&mut html, rest);
        Self(html)
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::FastWritable for Markup {
    fn write_into(&self, dest: &mut dyn fmt::Write, _: &dyn askama::Values) -> askama::Result<()> {
        dest.write_str(&self.0)?;
        Ok(())
    }
}

impl askama::filters::HtmlSafe for Markup {}

/// Writes a message, calling `write` for each placeholder.
pub(super) fn substitute(message: &str, write: impl Fn(&mut String, &str)) -> String {
    let mut text = String::with_capacity(message.len() + 32);
    let mut rest = message;
    while let Some((before, name, after)) = next_placeholder(rest) {
        text.push_str(before);
        write(&mut text, name);
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Splits at the first placeholder: what stands before, its name, what follows.
pub(super) fn next_placeholder(message: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = message.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&#38;"),
            '<' => html.push_str("&#60;"),
            '>' => html.push_str("&#62;"),
            '"' => html.push_str("&#34;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}
