"""A person at a browser without scripts: keeps the provider's cookies, follows redirects, and fills in and sends the forms
that the provider shows."""

from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import requests

BUTTONS = ["login-submit", "consent-allow", "logout-yes", "form-post-submit"]
MOST_PAGES = 12


class Person:
    def __init__(self, username, password):
        self.pressed = []
        self._answers = {"username": username, "password": password}
        self._browser = requests.Session()

    def visit(self, url, home):
        """Does what the pages ask until the browser is sent to an address that begins with `home`, and gives that
        address: what is there belongs to the application."""
        send = ("GET", url, None)
        for _ in range(MOST_PAGES):
            method, url, form = send
            if url.startswith(home):
                return url
            origin = {"Origin": "{0.scheme}://{0.netloc}".format(urlsplit(url))} if form else {}
            response = self._browser.request(method, url, data=form, headers=origin, allow_redirects=False)
            to = response.headers.get("location")
            send = ("GET", urljoin(url, to), None) if to else self._answer(response)
        raise RuntimeError(f"still at {url} after {MOST_PAGES} pages")

    def _answer(self, response):
        page = _Forms(response.text)
        for button in BUTTONS:
            for form in page.forms:
                if button in form["buttons"]:
                    self.pressed.append(button)
                    fields = {name: self._answers.get(name, value) for name, value in form["fields"].items()}
                    return "POST", urljoin(response.url, form["action"]), fields | form["buttons"][button]
        raise RuntimeError(f"nothing to press at {response.url} ({response.status_code}):\n{response.text}")


class _Forms(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.forms = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self.forms.append({"action": given["action"], "fields": {}, "buttons": {}})
        elif tag == "button" and "id" in given and self.forms:
            sent = {given["name"]: given.get("value", "")} if "name" in given else {}
            self.forms[-1]["buttons"][given["id"]] = sent
        elif tag == "input" and "name" in given and given.get("type") != "checkbox":
            self.forms[-1]["fields"][given["name"]] = given.get("value", "")
