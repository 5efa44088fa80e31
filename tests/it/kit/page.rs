//! A page as the tests read it: a small scanner for our own regular HTML, and what must hold on
//! every page of ours.

use super::browser::Answer;

/// A form with its fields.
#[derive(Debug, Clone)]
pub struct Form {
    /// Target, as written.
    pub action: String,
    /// Tags inside, in order: (tag, attributes).
    pub controls: Vec<(String, Vec<(String, String)>)>,
}

impl Form {
    /// What the browser sends when the button with this id is pressed.
    pub fn filled(&self, button: &str, fill: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        for (tag, attributes) in &self.controls {
            let get = |name: &str| attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            let Some(name) = get("name") else { continue };
            let kind = get("type").unwrap_or_default();
            let typed = fill.iter().find(|(field, _)| *field == name).map(|(_, value)| (*value).to_owned());
            let pressed = get("id").as_deref() == Some(button);
            match (tag.as_str(), kind.as_str()) {
                ("button", _) if pressed => fields.push((name, get("value").unwrap_or_default())),
                ("button", _) => {}
                ("input", "checkbox") => {
                    if typed.is_some() || get("checked").is_some() {
                        fields.push((name, get("value").unwrap_or_else(|| "on".to_owned())));
                    }
                }
                _ => fields.push((name, typed.unwrap_or_else(|| get("value").unwrap_or_default()))),
            }
        }
        fields
    }

    /// The value of a field as shown.
    pub fn value(&self, name: &str) -> Option<String> {
        self.controls.iter().find_map(|(_, attributes)| {
            let get = |key: &str| attributes.iter().find(|(k, _)| k == key).map(|(_, value)| value.clone());
            (get("name").as_deref() == Some(name)).then(|| get("value").unwrap_or_default())
        })
    }
}

/// A page taken apart.
#[derive(Debug, Clone)]
pub struct Page {
    /// Every tag in order: (name, attributes).
    pub tags: Vec<(String, Vec<(String, String)>)>,
    /// Text without tags, blanks folded.
    pub text: String,
}

impl Page {
    /// Takes HTML apart.
    pub fn read(html: &str) -> Self {
        let (mut tags, mut text, mut rest) = (Vec::new(), String::new(), html);
        while let Some(open) = rest.find('<') {
            text.push_str(&rest[..open]);
            text.push(' ');
            let Some(close) = end_of_tag(&rest[open..]) else { break };
            let inside = &rest[open + 1..open + close];
            if !inside.starts_with('!') {
                tags.push(tag(inside));
            }
            rest = &rest[open + close + 1..];
        }
        text.push_str(rest);
        let text = unescape(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        Self { tags, text }
    }

    /// The form that holds a control with this id.
    pub fn form_with(&self, id: &str) -> Option<Form> {
        let mut current: Option<Form> = None;
        for (name, attributes) in &self.tags {
            let get = |key: &str| attributes.iter().find(|(k, _)| k == key).map(|(_, value)| value.clone());
            match name.as_str() {
                "form" => current = Some(Form { action: get("action").unwrap_or_default(), controls: Vec::new() }),
                "/form" => {
                    if let Some(form) = current.take()
                        && form
                            .controls
                            .iter()
                            .any(|(_, attributes)| attributes.iter().any(|(k, v)| k == "id" && v == id))
                    {
                        return Some(form);
                    }
                }
                "input" | "button" | "select" | "textarea" => {
                    if let Some(form) = &mut current {
                        form.controls.push((name.clone(), attributes.clone()));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether an element with this id stands on the page.
    pub fn has_id(&self, id: &str) -> bool {
        self.tags.iter().any(|(_, attributes)| attributes.iter().any(|(k, v)| k == "id" && v == id))
    }

    /// An attribute of the element with this id.
    pub fn attribute(&self, id: &str, name: &str) -> Option<String> {
        let (_, attributes) =
            self.tags.iter().find(|(_, attributes)| attributes.iter().any(|(k, v)| k == "id" && v == id))?;
        attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    }

    /// `lang` of the page.
    pub fn lang(&self) -> Option<String> {
        let (_, attributes) = self.tags.iter().find(|(name, _)| name == "html")?;
        attributes.iter().find(|(key, _)| key == "lang").map(|(_, value)| value.clone())
    }

    /// Where its links lead.
    pub fn links(&self) -> Vec<String> {
        self.tags
            .iter()
            .filter(|(name, _)| name == "a")
            .filter_map(|(_, attributes)| attributes.iter().find(|(k, _)| k == "href").map(|(_, v)| v.clone()))
            .collect()
    }

    /// What holds on every page of ours.
    pub fn check(&self, answer: &Answer) {
        let at = &answer.url;
        let csp = answer.header("content-security-policy").unwrap_or_else(|| panic!("no CSP at {at}"));
        for part in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(csp.contains(part), "{part} in {csp} at {at}");
        }
        assert!(!csp.contains("unsafe"), "{csp} at {at}");
        for (header, value) in
            [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"), ("x-frame-options", "DENY")]
        {
            assert_eq!(answer.header(header), Some(value), "{header} at {at}");
        }
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{at}");
        let count = |wanted: &str| self.tags.iter().filter(|(name, _)| name == wanted).count();
        assert_eq!(count("h1"), 1, "one h1 at {at}:\n{}", answer.body);
        assert_eq!(count("main"), 1, "one main at {at}");
        assert_eq!(count("title"), 1, "one title at {at}");
        for (name, attributes) in &self.tags {
            let get = |key: &str| attributes.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
            assert!(get("style").is_none() && name != "style", "no inline style at {at}: {name} {attributes:?}");
            assert!(!attributes.iter().any(|(k, _)| k.starts_with("on")), "no inline script at {at}: {attributes:?}");
            for target in ["href", "src", "action", "formaction"].into_iter().filter_map(get) {
                let runs =
                    ["javascript:", "data:", "vbscript:", "blob:"].iter().any(|scheme| target.starts_with(scheme));
                assert!(!runs, "nothing that runs in the browser at {at}: {target}");
            }
            match name.as_str() {
                "script" => assert!(get("src").is_some(), "no inline script at {at}"),
                "html" => assert!(get("lang").is_some_and(|lang| !lang.is_empty()), "a language at {at}"),
                "img" => assert!(get("alt").is_some(), "alternative text at {at}: {attributes:?}"),
                "input" if !matches!(get("type"), Some("hidden")) => {
                    let id = get("id").unwrap_or_else(|| panic!("an id at {at}: {attributes:?}"));
                    let labelled = get("aria-label").is_some()
                        || self.tags.iter().any(|(n, a)| n == "label" && a.iter().any(|(k, v)| k == "for" && v == id));
                    assert!(labelled, "a label for {id} at {at}");
                }
                _ => {}
            }
        }
        assert!(answer.body.len() < 64 * 1024, "{at}");
    }
}

/// Where the tag that begins the text ends; quotes may hold `>`.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return Some(at),
            (None, _) => {}
        }
    }
    None
}

fn tag(inside: &str) -> (String, Vec<(String, String)>) {
    let inside = inside.trim_end_matches('/').trim();
    let end = inside.find(char::is_whitespace).unwrap_or(inside.len());
    let name = inside[..end].to_ascii_lowercase();
    let (mut attributes, mut rest) = (Vec::new(), inside[end..].trim_start());
    while !rest.is_empty() {
        let stop = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let key = rest[..stop].to_ascii_lowercase();
        rest = rest[stop..].trim_start();
        let value = if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            match after.chars().next() {
                Some(quote @ ('"' | '\'')) => {
                    let close = after[1..].find(quote).map_or(after.len() - 1, |at| at + 1);
                    let value = after[1..close].to_owned();
                    rest = after.get(close + 1..).unwrap_or("").trim_start();
                    value
                }
                _ => {
                    let close = after.find(char::is_whitespace).unwrap_or(after.len());
                    let value = after[..close].to_owned();
                    rest = after[close..].trim_start();
                    value
                }
            }
        } else {
            String::new()
        };
        attributes.push((key, unescape(&value)));
    }
    (name, attributes)
}

/// The entities that our templates write, each read once.
fn unescape(text: &str) -> String {
    const ENTITIES: [(&str, char); 9] = [
        ("&#60;", '<'),
        ("&#62;", '>'),
        ("&#34;", '"'),
        ("&#39;", '\''),
        ("&#38;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&amp;", '&'),
    ];
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (entity, character) =
            ENTITIES.into_iter().find(|(entity, _)| rest.starts_with(entity)).unwrap_or(("&", '&'));
        out.push(character);
        rest = &rest[entity.len()..];
    }
    out.push_str(rest);
    out
}
