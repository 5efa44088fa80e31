"""A secret with signs that a form would encode, sent as Authlib sends it in the header and in the body."""

import json
import sys

from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

given = json.load(sys.stdin)


def ask(client_id, method, secret):
    session = OAuth2Session(client_id, secret, token_endpoint_auth_method=method)
    try:
        return {"scope": session.fetch_token(given["issuer"] + "/token", grant_type="client_credentials")["scope"]}
    except OAuthError as error:
        return {"error": error.error, "description": error.description}


print(
    json.dumps(
        {
            "body": ask("in-the-body", "client_secret_post", given["awkward_secret"]),
            "header": ask("in-the-header", "client_secret_basic", given["awkward_secret"]),
        }
    )
)
