"""A Flask application as Authlib's guide writes it: sign-in with PKCE, claims, refresh, sign-out."""

import json
import sys

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, session

from person import Person

given = json.load(sys.stdin)
app = Flask(__name__)
app.secret_key = "of one test run"
oauth = OAuth(app)
oauth.register(
    name="doorward",
    client_id="web",
    client_secret=given["secret"],
    server_metadata_url=given["issuer"] + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email offline_access", "code_challenge_method": "S256"},
)


@app.get("/login")
def login():
    return oauth.doorward.authorize_redirect(given["redirect_uri"])


@app.get("/callback")
def callback():
    token = oauth.doorward.authorize_access_token()
    session["id_token"] = token["id_token"]
    userinfo = oauth.doorward.userinfo(token=token)
    refreshed = oauth.doorward.fetch_access_token(grant_type="refresh_token", refresh_token=token["refresh_token"])
    return {"token": token, "userinfo": userinfo, "refreshed": refreshed}


@app.get("/logout")
def logout():
    return oauth.doorward.logout_redirect(given["goodbye"], id_token_hint=session.pop("id_token"))


@app.get("/goodbye")
def goodbye():
    return oauth.doorward.validate_logout_response()


@app.errorhandler(OAuthError)
def refused(error):
    return {"error": error.error, "description": error.description}


browser = app.test_client()
here = given["redirect_uri"].removesuffix("/callback")
person = Person(given["username"], given["password"])


def ask(url):
    return browser.get(url, base_url=here)


signed_in = ask(person.visit(ask("/login").location, given["redirect_uri"])).json
signed_out = ask(person.visit(ask("/logout").location, given["goodbye"])).json
silent = ask(person.visit(ask("/login").location + "&prompt=none", given["redirect_uri"])).json
oauth.doorward.client_kwargs.pop("code_challenge_method")
without_pkce = ask(person.visit(ask("/login").location, given["redirect_uri"])).json
print(
    json.dumps(
        {
            "pressed": person.pressed,
            "signed_in": signed_in,
            "signed_out": signed_out,
            "silent": silent,
            "without_pkce": without_pkce,
        }
    )
)
