// A request whose parameters stand in a signed object, and single claims that it asks for.

import * as client from 'openid-client'
import { discover, given, tell } from './application.mjs'
import { Person } from './person.mjs'

const key = await crypto.subtle.importKey('jwk', given.key, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
const signingKey = { key, kid: given.key.kid }
const config = await discover('signer', undefined, client.PrivateKeyJwt(signingKey))
const checks = {
  pkceCodeVerifier: client.randomPKCECodeVerifier(),
  expectedState: client.randomState(),
  expectedNonce: client.randomNonce(),
}
const claims = { userinfo: { name: { essential: true }, email: null }, id_token: { given_name: null } }
const url = await client.buildAuthorizationUrlWithJAR(
  config,
  {
    redirect_uri: given.redirect_uri,
    scope: 'openid',
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    claims: JSON.stringify(claims),
  },
  signingKey,
)
const callback = await new Person(given).visit(url, given.redirect_uri)
const tokens = await client.authorizationCodeGrant(config, new URL(callback.url), checks)
const userinfo = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
tell({ sent: [...url.searchParams.keys()].sort(), claims: tokens.claims(), userinfo })
