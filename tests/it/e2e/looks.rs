//! What only a browser can see of WCAG 2.2 AA, on every page of the sign-in, in light and dark, on a small
//! phone and on a desk: contrast of text and edges (1.4.3, 1.4.11), nothing sideways at 320 px (1.4.10), a
//! visible focus (2.4.7, 2.4.13), targets of 24 px (2.5.8), and nothing outside a landmark.

use serde_json::json;

use crate::kit::flow::{ASKER, WEB, authorize};
use crate::kit::op::PASSWORD;
use crate::kit::process::Doorward;
use crate::kit::webdriver::{self, Browser, Script};

/// Gives what is wrong with the page shown.
const LOOK: &str = r"
const faults = [];
const parse = (text) => {
  const parts = text.match(/[\d.]+/g).map(Number);
  return { rgb: parts.slice(0, 3), opaque: parts.length < 4 || parts[3] === 1 };
};
const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
const ratio = (one, other) => {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.opaque) return colour.rgb;
  }
  return [255, 255, 255];
};
const name = (element) => element.tagName + '#' + element.id + ' ' + element.textContent.trim().slice(0, 30);
const seen = (element) => {
  const box = element.getBoundingClientRect();
  return box.width > 1 && box.height > 1 && element.checkVisibility();
};
const expect = (fine, what) => { if (!fine) faults.push(what); };

const root = document.documentElement;
expect(root.scrollWidth <= root.clientWidth, 'sideways: ' + root.scrollWidth + ' of ' + root.clientWidth);
expect(root.lang === 'en' && document.title.length > 0, 'language and title');

const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let texts = 0;
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || element.closest('script') || !seen(element)) continue;
  texts += 1;
  const style = getComputedStyle(element);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  const found = ratio(parse(style.color).rgb, ground(element));
  expect(found >= (large ? 3 : 4.5), 'contrast ' + found.toFixed(2) + ' of ' + name(element));
  expect(element.closest('header, main, footer, nav'), 'outside of every landmark: ' + name(element));
}
expect(texts > 3, 'no text');

const controls = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), summary')].filter(seen);
for (const control of controls) {
  const style = getComputedStyle(control);
  if (control.matches('input:not([type=checkbox])')) {
    const edge = ratio(parse(style.borderTopColor).rgb, ground(control.parentElement));
    expect(control.readOnly || edge >= 3, 'edge ' + edge.toFixed(2) + ' of ' + name(control));
  }
  // A link in a sentence has the size of its words; a label that leads to its box belongs to the target.
  const target = (control.type === 'checkbox' ? control.parentElement : control).getBoundingClientRect();
  const big = target.width >= 24 && target.height >= 24;
  expect(big || style.display === 'inline', 'target ' + target.width + ' x ' + target.height + ' of ' + name(control));
  control.focus({ focusVisible: true });
  const focused = getComputedStyle(control);
  const ring = focused.outlineStyle !== 'none' && parseFloat(focused.outlineWidth) >= 2;
  const contrast = ratio(parse(focused.outlineColor).rgb, ground(control.parentElement));
  expect(document.activeElement === control && ring && contrast >= 3, 'focus of ' + name(control));
  control.blur();
}
return faults;
";

pub(super) async fn look(browser: &Browser, page: &str, wanted: &str) {
    browser.wait_for(wanted).await;
    for width in [1280, 320] {
        for scheme in ["light", "dark"] {
            browser.emulate(width, scheme).await;
            assert_eq!(browser.run(LOOK).await, json!([]), "{page}, {width} px, {scheme}");
        }
    }
}

async fn look_at_every_page(browser: &Browser, server: &Doorward) {
    let issuer = server.issuer();
    browser.open(&format!("{issuer}{}", authorize(WEB, "openid", &[]))).await;
    look(browser, "sign-in", "#login-submit").await;
    browser.fill("#username", "alice").await;
    browser.fill("#password", "wrong").await;
    browser.click("#login-submit").await;
    look(browser, "sign-in after a wrong password", "#password-error").await;

    browser.open(&format!("{issuer}{}", authorize(ASKER, "openid profile email offline_access", &[]))).await;
    browser.fill("#username", "alice").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("#login-submit").await;
    look(browser, "consent", "#consent-allow").await;

    browser.open(&format!("{issuer}{}", authorize(ASKER, "openid", &[("prompt", "select_account")]))).await;
    look(browser, "choice of account", "#choose-1").await;
    browser.open(&format!("{issuer}{}", authorize(ASKER, "openid", &[("prompt", "login")]))).await;
    look(browser, "sign-in again", "#login-choose").await;

    browser.open(&format!("{issuer}{}", authorize(WEB, "openid", &[("redirect_uri", "https://evil.example/")]))).await;
    browser.wait_for("details").await;
    browser.run("document.querySelector('details').open = true").await;
    look(browser, "error", "details[open]").await;
    browser.open(&format!("{issuer}/nowhere")).await;
    look(browser, "not found", "#main").await;
    browser.open(&issuer).await;
    look(browser, "home", "#main").await;

    browser.open(&format!("{issuer}/logout")).await;
    look(browser, "logout", "#logout-yes").await;
    browser.click("#logout-yes").await;
    look(browser, "signed out", ".outcome-ok").await;

    let link = std::fs::read_to_string(server.data_dir().join("setup-link")).expect("nobody administers this yet");
    browser.open(link.trim()).await;
    look(browser, "set-up", "#setup-submit").await;
    browser.fill("#username", "two words").await;
    browser.fill("#password", "a long enough password").await;
    browser.click("#setup-submit").await;
    look(browser, "set-up with a wrong name", "#username-error").await;
}

#[tokio::test]
async fn every_page_can_be_read_and_used_in_light_and_dark_on_any_width() {
    if !webdriver::is_there() {
        return;
    }
    let server = Doorward::running().await;
    look_at_every_page(&Browser::start(Script::On).await, &server).await;
}
