//! A person with a browser of the simplest kind: signs in once by the pages, then lets the application
//! fetch as many sets of tokens as are wanted. Reads only what a form has to send.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Method, header};

use super::connection::{Answer, Connection};
use super::server::{CLIENT_ID, PASSWORD, Product, REDIRECT_URI, USERNAME};
use super::workload::{basic, build, escape, text};

/// Steps after which something goes in circles.
const MOST_STEPS: usize = 12;
/// Both halves of PKCE (RFC 7636); one pair serves a throwaway realm.
const VERIFIER: &str = "a-verifier-of-the-benchmark-that-is-long-enough-0123456789";

/// What one code gave.
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
}

/// Signs in and redeems this many codes, each of which begins a grant of its own.
pub(super) fn tokens(product: &Product, count: u64) -> Result<Vec<Tokens>, String> {
    product.block_on(async {
        let mut browser =
            Browser { port: product.port, connection: Connection::open(product.port).await?, cookies: BTreeMap::new() };
        let mut all = Vec::new();
        for _ in 0..count {
            let code = browser.authorize().await?;
            all.push(browser.redeem(&code).await?);
        }
        Ok(all)
    })
}

struct Browser {
    port: u16,
    connection: Connection,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    async fn authorize(&mut self) -> Result<String, String> {
        let challenge =
            URL_SAFE_NO_PAD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, VERIFIER.as_bytes()));
        let mut path = format!(
            "/authorize?client_id={CLIENT_ID}&response_type=code&scope={}&redirect_uri={}&state=s&nonce=n\
             &code_challenge={challenge}&code_challenge_method=S256",
            escape("openid profile email offline_access"),
            escape(REDIRECT_URI),
        );
        let mut form: Option<String> = None;
        for _ in 0..MOST_STEPS {
            let answer = self.ask(&path, form.take()).await?;
            if let Some(place) = answer.headers.get(header::LOCATION) {
                let place = place.to_str().map_err(|error| error.to_string())?;
                if place.starts_with(REDIRECT_URI) {
                    return parameter(place, "code").ok_or_else(|| format!("no code came back: {place}"));
                }
                path = self.local(place);
            } else {
                let page = String::from_utf8_lossy(&answer.body).into_owned();
                let filled = Form::read(&page).ok_or_else(|| format!("{path}: {} without a form", answer.status))?;
                path = if filled.action.is_empty() { path } else { self.local(&filled.action) };
                form = Some(filled.body);
            }
        }
        Err(format!("the sign-in goes in circles at {path}"))
    }

    async fn redeem(&mut self, code: &str) -> Result<Tokens, String> {
        let form = format!(
            "grant_type=authorization_code&code={}&redirect_uri={}&code_verifier={VERIFIER}",
            escape(code),
            escape(REDIRECT_URI)
        );
        let request = build(self.port, &Method::POST, "/token", Some(&basic()), Bytes::from(form))?;
        let answer = self.connection.send(request).await?;
        let access =
            text(&answer.body, "access_token").map_err(|_| String::from_utf8_lossy(&answer.body).into_owned())?;
        Ok(Tokens { access, refresh: text(&answer.body, "refresh_token").ok() })
    }

    async fn ask(&mut self, path: &str, form: Option<String>) -> Result<Answer, String> {
        let method = if form.is_some() { Method::POST } else { Method::GET };
        let mut request = build(self.port, &method, path, None, Bytes::from(form.unwrap_or_default()))?;
        let own = format!("http://localhost:{}", self.port);
        let headers = request.headers_mut();
        headers.insert(header::ORIGIN, own.parse().map_err(|_| "an origin".to_owned())?);
        headers.insert("sec-fetch-site", header::HeaderValue::from_static("same-origin"));
        if !self.cookies.is_empty() {
            let all: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            headers.insert(header::COOKIE, all.join("; ").parse().map_err(|_| "a cookie".to_owned())?);
        }
        let answer = self.connection.send(request).await?;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let text = cookie.to_str().map_err(|error| error.to_string())?;
            if let Some((name, value)) = text.split(';').next().and_then(|pair| pair.split_once('=')) {
                if value.is_empty() {
                    self.cookies.remove(name);
                } else {
                    self.cookies.insert(name.to_owned(), value.to_owned());
                }
            }
        }
        Ok(answer)
    }

    fn local(&self, place: &str) -> String {
        place.strip_prefix(&format!("http://localhost:{}", self.port)).unwrap_or(place).to_owned()
    }
}

/// A form as a page holds it, filled in.
struct Form {
    action: String,
    body: String,
}

impl Form {
    /// The page's first form that asks for a password, else its first form.
    fn read(page: &str) -> Option<Self> {
        let forms: Vec<&str> = page.split("<form").skip(1).filter_map(|rest| rest.split("</form>").next()).collect();
        let form = forms.iter().find(|form| form.contains("id=\"password\"")).or(forms.first())?;
        let opening = form.split('>').next()?;
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        for tag in form.split("<input").skip(1).filter_map(|rest| rest.split('>').next()) {
            let Some(name) = attribute(tag, "name") else { continue };
            match attribute(tag, "id").as_deref() {
                Some("username") => pairs.append_pair(&name, USERNAME),
                Some("password") => pairs.append_pair(&name, PASSWORD),
                _ if attribute(tag, "type").as_deref() == Some("checkbox") => continue,
                _ => pairs.append_pair(&name, &attribute(tag, "value").unwrap_or_default()),
            };
        }
        Some(Self { action: attribute(opening, "action").unwrap_or_default(), body: pairs.finish() })
    }
}

/// An attribute's value, as our own templates write it: in double quotes, escaped.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?;
    let plain = value.replace("&#38;", "&").replace("&amp;", "&").replace("&#34;", "\"").replace("&#39;", "'");
    Some(plain.replace("&#60;", "<").replace("&#62;", ">").replace("&#x2F;", "/"))
}

fn parameter(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
