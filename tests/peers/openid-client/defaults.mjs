// The library's own quick start: a client id, a secret, PKCE, and nothing else said.

import * as client from 'openid-client'
import { discover, given, refusal, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const quickStart = async (clientId, secret) => {
  const config = await discover(clientId, secret)
  const verifier = client.randomPKCECodeVerifier()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: given.redirect_uri,
    scope: 'openid email',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const callback = await new Person(given).visit(url, given.redirect_uri)
  return client.authorizationCodeGrant(config, new URL(callback.url), { pkceCodeVerifier: verifier })
}

const tokens = await quickStart('post', given.secret)
tell({
  post: { claims: tokens.claims(), type: tokens.token_type, expires_in: tokens.expires_in },
  basic: await refusal(quickStart('basic', given.awkward_secret)),
})
