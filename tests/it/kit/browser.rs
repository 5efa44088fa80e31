//! A browser with a cookie jar that keeps real rules (Secure, Path, prefixes, Max-Age), follows
//! redirects inside the issuer, stops at the client's, and finds forms as a person would. Every page
//! it sees is checked: CSP, no inline code, one `h1`, labels, a way on.

use std::collections::BTreeMap;

use http::{HeaderMap, Method, StatusCode};

use super::op::Op;
use super::page::{Form, Page};

/// An answer as the browser has it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Where it came from: absolute.
    pub url: String,
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body as text.
    pub body: String,
}

impl Answer {
    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("an ASCII header"))
    }

    /// `Location`.
    pub fn location(&self) -> &str {
        self.header("location").unwrap_or_else(|| panic!("no Location: {} {}", self.status, self.body))
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// The page in it.
    pub fn page(&self) -> Page {
        Page::read(&self.body)
    }

    /// A query parameter of `Location`, decoded.
    pub fn location_param(&self, name: &str) -> Option<String> {
        let url = self.location();
        let query = url.split_once('?').map_or("", |(_, query)| query);
        form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// The parameters in the fragment of `Location`, decoded; there is no query beside it.
    pub fn fragment(&self) -> BTreeMap<String, String> {
        let (to, fragment) = self.location().split_once('#').unwrap_or_else(|| panic!("no fragment: {self:?}"));
        assert!(!to.contains('?') && !fragment.contains('#'), "{}", self.location());
        let fields: Vec<_> = form_urlencoded::parse(fragment.as_bytes()).into_owned().collect();
        let count = fields.len();
        let fields: BTreeMap<String, String> = fields.into_iter().collect();
        assert_eq!(fields.len(), count, "each once: {}", self.location());
        fields
    }
}

#[derive(Debug, Clone)]
struct Stored {
    value: String,
    host: String,
    path: String,
    secure: bool,
}

/// A person's browser.
pub struct Browser<'a> {
    op: &'a Op,
    jar: BTreeMap<(String, String), Stored>,
    /// Sent as `User-Agent`.
    pub agent: String,
    /// Sent as `Accept-Language`.
    pub language: String,
    /// The peer's address.
    pub address: std::net::IpAddr,
    /// Sent with every request: what a proxy adds.
    pub added: Vec<(&'static str, &'static str)>,
    /// The page it stands on.
    pub at: Option<Answer>,
}

impl<'a> Browser<'a> {
    /// A new, empty browser.
    pub fn new(op: &'a Op) -> Self {
        Self {
            op,
            jar: BTreeMap::new(),
            agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0".to_owned(),
            language: "en".to_owned(),
            address: [127, 0, 0, 1].into(),
            added: Vec::new(),
            at: None,
        }
    }

    /// Opens an address and follows redirects inside the issuer's origin.
    pub async fn get(&mut self, url: &str) -> Answer {
        let answer = self.send(Method::GET, url, None, &[("sec-fetch-site", "none")]).await;
        self.follow(answer).await
    }

    /// One request without following.
    pub async fn send(
        &mut self,
        method: Method,
        url: &str,
        form: Option<&[(String, String)]>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let url = self.op.absolute(url);
        let path = self.op.path_of(&url);
        let looks_at_body = method != Method::HEAD;
        let mut request = http::Request::builder().method(method).uri(&path.1).header("host", &path.0);
        request = request
            .header("user-agent", &self.agent)
            .header("accept-language", &self.language)
            .header("accept", "text/html");
        let cookies = self.cookies_for(&url);
        if !cookies.is_empty() {
            request = request.header("cookie", cookies);
        }
        for (name, value) in headers.iter().chain(&self.added) {
            request = request.header(*name, *value);
        }
        let body = match form {
            Some(fields) => {
                request = request.header("content-type", "application/x-www-form-urlencoded");
                let mut out = form_urlencoded::Serializer::new(String::new());
                for (name, value) in fields {
                    out.append_pair(name, value);
                }
                out.finish()
            }
            None => String::new(),
        };
        let answer = self.op.send_from(self.address, url.clone(), request.body(body.into()).expect("a request")).await;
        self.keep_cookies(&url, &answer.headers);
        if looks_at_body && answer.header("content-type").is_some_and(|media| media.starts_with("text/html")) {
            answer.page().check(&answer);
        }
        self.at = Some(answer.clone());
        answer
    }

    /// Follows redirects while they stay inside the issuer's origin.
    pub async fn follow(&mut self, mut answer: Answer) -> Answer {
        for _ in 0..10 {
            if !answer.status.is_redirection() || answer.status == StatusCode::NOT_MODIFIED {
                break;
            }
            let target = self.op.resolve(&answer.url, answer.location());
            // Another realm may have a host of its own.
            if !self.op.is_ours(&target) && self.op.origin_of(&target) != self.op.origin_of(&answer.url) {
                break;
            }
            answer = self.send(Method::GET, &target, None, &[("sec-fetch-site", "same-origin")]).await;
        }
        self.at = Some(answer.clone());
        answer
    }

    /// The form on the page it stands on that has a control with this id.
    pub fn form(&self, id: &str) -> Form {
        let at = self.at.as_ref().expect("a page");
        at.page()
            .form_with(id)
            .unwrap_or_else(|| panic!("no form with #{id} at {} {}:\n{}", at.status, at.url, at.body))
    }

    /// Fills fields by name and presses the button with this id; follows.
    pub async fn submit(&mut self, button: &str, fill: &[(&str, &str)]) -> Answer {
        let answer = self.submit_once(button, fill).await;
        self.follow(answer).await
    }

    /// As [`Self::submit`] without following.
    pub async fn submit_once(&mut self, button: &str, fill: &[(&str, &str)]) -> Answer {
        let form = self.form(button);
        let at = self.at.clone().expect("a page");
        let target = self.op.resolve(&at.url, &form.action);
        let fields = form.filled(button, fill);
        let origin = self.op.origin_of(&at.url);
        self.send(Method::POST, &target, Some(&fields), &[("origin", &origin), ("sec-fetch-site", "same-origin")]).await
    }

    /// Signs in on the login page it stands on.
    pub async fn sign_in(&mut self, username: &str, password: &str) -> Answer {
        self.submit("login-submit", &[("username", username), ("password", password)]).await
    }

    /// The value of a cookie whose name contains `part`.
    pub fn cookie(&self, part: &str) -> Option<String> {
        self.jar.iter().find(|((name, _), _)| name.contains(part)).map(|(_, stored)| stored.value.clone())
    }

    /// All cookies: name and path.
    pub fn cookie_names(&self) -> Vec<(String, String)> {
        self.jar.iter().map(|((name, _), stored)| (name.clone(), stored.path.clone())).collect()
    }

    /// Replaces the value of a cookie whose name contains `part`.
    pub fn set_cookie(&mut self, part: &str, value: &str) {
        for ((name, _), stored) in &mut self.jar {
            if name.contains(part) {
                value.clone_into(&mut stored.value);
            }
        }
    }

    /// Forgets cookies whose name contains `part`.
    pub fn forget(&mut self, part: &str) {
        self.jar.retain(|(name, _), _| !name.contains(part));
    }

    /// Takes over another browser's cookies: a thief.
    pub fn steal(&mut self, from: &Browser<'_>, part: &str) {
        for (key, stored) in &from.jar {
            if key.0.contains(part) {
                self.jar.insert(key.clone(), stored.clone());
            }
        }
    }

    fn cookies_for(&self, url: &str) -> String {
        let (secure, host) = (url.starts_with("https://"), self.host_of(url));
        let path = self.op.path_only(url);
        let fits = |stored: &Stored| {
            (secure || !stored.secure)
                && stored.host == host
                && (path == stored.path
                    || path
                        .strip_prefix(stored.path.as_str())
                        .is_some_and(|rest| stored.path.ends_with('/') || rest.starts_with('/')))
        };
        let pairs: Vec<_> = self
            .jar
            .iter()
            .filter(|(_, stored)| fits(stored))
            .map(|((name, _), stored)| format!("{name}={}", stored.value))
            .collect();
        pairs.join("; ")
    }

    /// The host without its port: the ports of a host share cookies.
    fn host_of(&self, url: &str) -> String {
        let host = self.op.path_of(url).0;
        host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).to_owned()
    }

    fn keep_cookies(&mut self, url: &str, headers: &HeaderMap) {
        for header in headers.get_all("set-cookie") {
            let text = header.to_str().expect("an ASCII cookie");
            let mut parts = text.split(';').map(str::trim);
            let (name, value) = parts.next().and_then(|pair| pair.split_once('=')).expect("name=value");
            let (mut path, mut secure, mut max_age, mut http_only, mut same_site) =
                ("/".to_owned(), false, None, false, "");
            for attribute in parts {
                match attribute.split_once('=') {
                    Some(("Path", value)) => value.clone_into(&mut path),
                    Some(("Max-Age", value)) => max_age = Some(value.parse::<i64>().expect("seconds")),
                    Some(("SameSite", value)) => same_site = value,
                    Some((other, _)) => panic!("attribute {other} in {text}"),
                    None if attribute == "Secure" => secure = true,
                    None if attribute == "HttpOnly" => http_only = true,
                    None => panic!("attribute {attribute} in {text}"),
                }
            }
            let https = url.starts_with("https://");
            // One cookie is for a script in a frame on other sites' pages.
            let wanted = match (name.contains("-state-"), https) {
                (true, true) => (false, "None"),
                (true, false) => (false, "Lax"),
                (false, _) => (true, "Lax"),
            };
            assert_eq!((http_only, same_site), wanted, "every cookie of ours is HttpOnly and SameSite=Lax: {text}");
            // What a browser would drop: prefixes without their conditions.
            if name.starts_with("__Host-") && !(secure && path == "/" && https) {
                panic!("a browser drops {text}");
            }
            if (name.starts_with("__Secure-") || secure) && !(secure && https) {
                panic!("a browser drops {text}");
            }
            assert_eq!(https, secure, "Secure exactly on https: {text}");
            let key = (name.to_owned(), path.clone());
            if max_age.is_some_and(|seconds| seconds <= 0) {
                self.jar.remove(&key);
            } else {
                self.jar.insert(key, Stored { value: value.to_owned(), host: self.host_of(url), path, secure });
            }
        }
        let total: usize = self.jar.iter().map(|((name, _), stored)| name.len() + stored.value.len() + 3).sum();
        assert!(total < 4096, "own cookies stay under 4 kB");
    }
}
