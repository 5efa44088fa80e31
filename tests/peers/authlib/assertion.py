"""A client that signs: with Authlib's own PrivateKeyJWT, with its claims pinned, and with the one argument it needs."""

import json
import sys
import time

from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT, private_key_jwt_sign
from joserfc.jwk import ECKey

from person import Person

given = json.load(sys.stdin)
key = ECKey.import_key(given["key"])
header = {"kid": given["key"]["kid"]}


class ShortLived(PrivateKeyJWT):
    """Lives a minute instead of an hour, and has a `jti` of its own each time."""

    def sign(self, auth, token_endpoint):
        return private_key_jwt_sign(
            key, auth.client_id, token_endpoint, alg="ES256", header=dict(header), expires_in=60
        )


def client(method):
    session = OAuth2Session(
        "signer",
        key,
        token_endpoint_auth_method="private_key_jwt",
        revocation_endpoint_auth_method="private_key_jwt",
        scope="openid profile",
        redirect_uri=given["redirect_uri"],
        code_challenge_method="S256",
    )
    session.register_client_auth_method(method)
    metadata = session.get(given["issuer"] + "/.well-known/openid-configuration", withhold_token=True).json()
    return session, metadata


def sign_in(method):
    session, metadata = client(method)
    verifier = "a-verifier-of-authlib-" * 3
    url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    answer = Person(given["username"], given["password"]).visit(url, given["redirect_uri"])
    token = session.fetch_token(
        metadata["token_endpoint"], authorization_response=answer, state=state, code_verifier=verifier
    )
    refreshed = session.refresh_token(metadata["token_endpoint"])
    introspected = session.introspect_token(metadata["introspection_endpoint"], refreshed["access_token"]).json()
    revoked = session.revoke_token(metadata["revocation_endpoint"], refreshed["refresh_token"])
    return {
        "scope": token["scope"],
        "rotated": refreshed["refresh_token"] != token["refresh_token"],
        "introspected": introspected,
        "revoked": revoked.status_code,
    }


def refused(method):
    try:
        sign_in(method)
    except OAuthError as error:
        return {"error": error.error, "description": error.description}
    raise AssertionError("this was to be refused")


print(
    json.dumps(
        {
            "short_lived": sign_in(ShortLived()),
            "as_it_comes": refused(PrivateKeyJWT(headers=dict(header), alg="ES256")),
            "pinned": refused(PrivateKeyJWT(headers=dict(header), alg="ES256", claims={"exp": int(time.time()) + 60})),
        }
    )
)
