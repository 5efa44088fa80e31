//! YAML 1.2 or JSON text → a tree of nodes with line numbers. Built from the parser's events, so that
//! repeated keys are seen, a scalar keeps the very text that was written (`no`, `0123` and `1e3` stay
//! what they are where a text is expected), and depth, size and aliases are bounded before memory is spent.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Deeper than any realm file needs to be.
const MAX_DEPTH: usize = 32;
/// Nodes in one file, after aliases were resolved.
const MAX_NODES: usize = 4_000_000;
/// Aliases in one file.
const MAX_ALIASES: usize = 1_000;
/// Nodes and bytes of text that all aliases together may repeat.
const MAX_REPEATED: usize = 1_000_000;

/// A value with the line it begins on.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    /// A scalar; `plain` = without quotes, so that it may also be a number or a truth value.
    Text {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: Node,
}

impl Node {
    /// The text of a field, as far as there is one: names an object before it has been checked.
    pub(super) fn text_of(&self, field: &str) -> &str {
        let Kind::Map(entries) = &self.kind else { return "" };
        match entries.iter().find(|entry| entry.key == field).map(|entry| &entry.value.kind) {
            Some(Kind::Text { text, .. }) => text,
            _ => "",
        }
    }

    /// What it is, for messages.
    pub(super) const fn what(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Text { .. } => "a single value",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }
}

/// Why a text is not a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) message: String,
}

/// Reads every document of a text. Empty documents are left out.
pub(super) fn read(text: &str) -> Result<Vec<Node>, Unreadable> {
    let mut parser = Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut builder = Builder::default();
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| Unreadable {
            line: error.marker().line(),
            message: format!("this is not YAML or JSON: {}", error.info()),
        })?;
        let line = span.start.line();
        builder.take(event, line).map_err(|message| Unreadable { line, message })?;
    }
    Ok(builder.documents)
}

/// A list or mapping under construction.
struct Open {
    line: usize,
    anchor: usize,
    body: Body,
}

enum Body {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<(String, usize)> },
}

#[derive(Default)]
struct Builder {
    documents: Vec<Node>,
    stack: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    aliases: usize,
    repeated: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let forced = match tag {
                    None => false,
                    Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => true,
                    Some(tag) => return Err(format!("the tag {tag} is not understood; write the value without a tag")),
                };
                let plain = style == ScalarStyle::Plain && !forced;
                let kind = if plain && matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL") {
                    Kind::Null
                } else {
                    Kind::Text { text: text.into_owned(), plain }
                };
                self.put(Node { line, kind }, anchor)
            }
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) if tag.is_some() => {
                let _ = anchor;
                Err("tags are not understood; write the value without a tag".to_owned())
            }
            Event::SequenceStart(anchor, _) => self.open(line, anchor, Body::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.open(line, anchor, Body::Map { entries: Vec::new(), key: None }),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, line),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
        }
    }

    fn open(&mut self, line: usize, anchor: usize, body: Body) -> Result<(), String> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(format!("nested more than {MAX_DEPTH} levels deep"));
        }
        if self.expects_key() {
            return Err("a field's name must be a single word".to_owned());
        }
        self.stack.push(Open { line, anchor, body });
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(Open { line, anchor, body }) = self.stack.pop() else { return Ok(()) };
        let kind = match body {
            Body::List(items) => Kind::List(items),
            Body::Map { entries, .. } => Kind::Map(entries),
        };
        self.put(Node { line, kind }, anchor)
    }

    fn alias(&mut self, anchor: usize, line: usize) -> Result<(), String> {
        self.aliases += 1;
        let Some((node, size)) = self.anchors.get(&anchor) else {
            return Err("an alias to a value that contains it, or to none".to_owned());
        };
        self.repeated += size;
        if self.aliases > MAX_ALIASES || self.repeated > MAX_REPEATED {
            return Err("too many aliases: write the values out".to_owned());
        }
        let node = Node { line, kind: node.kind.clone() };
        self.nodes += size;
        self.put(node, 0)
    }

    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Open { body: Body::Map { key: None, .. }, .. }))
    }

    fn put(&mut self, node: Node, anchor: usize) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err("too many values in one file: split it".to_owned());
        }
        if anchor > 0 {
            let size = size(&node);
            self.repeated += size;
            if self.repeated > MAX_REPEATED {
                return Err("too much behind anchors: write the values out".to_owned());
            }
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.stack.last_mut() {
            None => {
                if !matches!(node.kind, Kind::Null) {
                    self.documents.push(node);
                }
            }
            Some(Open { body: Body::List(items), .. }) => items.push(node),
            Some(Open { body: Body::Map { entries, key }, .. }) => match key.take() {
                Some((name, line)) => entries.push(Entry { key: name, line, value: node }),
                None => match node.kind {
                    Kind::Text { text, .. } => *key = Some((text, node.line)),
                    _ => return Err("a field's name must be a single word".to_owned()),
                },
            },
        }
        Ok(())
    }
}

/// What an alias to it would repeat: nodes, and bytes of text by the hundred.
fn size(node: &Node) -> usize {
    1 + match &node.kind {
        Kind::Null => 0,
        Kind::Text { text, .. } => text.len() / 100,
        Kind::List(items) => items.iter().map(size).sum(),
        Kind::Map(entries) => entries.iter().map(|entry| 1 + size(&entry.value)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_and_spellings_are_kept() {
        let docs = read("a: 0123\nb:\n  - no\n  - \"x\"\n---\n{\"c\": null}\n").unwrap();
        assert_eq!(docs.len(), 2);
        let Kind::Map(entries) = &docs[0].kind else { panic!("{docs:?}") };
        assert!(matches!(&entries[0].value.kind, Kind::Text { text, plain: true } if text == "0123"));
        assert_eq!((entries[1].key.as_str(), entries[1].line), ("b", 2));
        let Kind::List(items) = &entries[1].value.kind else { panic!("{docs:?}") };
        assert_eq!(items[1].line, 4);
        assert!(matches!(items[1].kind, Kind::Text { plain: false, .. }));
    }

    #[test]
    fn aliases_are_bounded() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for i in 1..10 {
            let list = vec![format!("*a{}", i - 1); 10].join(",");
            bomb = format!("{bomb}a{i}: &a{i} [{list}]\n");
        }
        assert!(read(&bomb).unwrap_err().message.contains("write the values out"));
        assert!(read("a: &x [1]\nb: *x\n").is_ok());
        assert!(read("a: &x [*x]\n").is_err());
        assert!(read(&"[".repeat(10_000)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = read(&text);
        }

        #[test]
        fn yaml_like_text_is_read_or_refused(text in "[-?:,\\[\\]{}#&*!|>'\"%@` a0\n\t]{0,120}") {
            let _ = read(&text);
        }
    }
}
