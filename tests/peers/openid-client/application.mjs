// What the scenarios share: an application as its developer writes it with openid-client. What a scenario is given comes as
// JSON on standard input; what it saw goes as JSON to standard output, and the test judges it.

import { readFileSync } from 'node:fs'
import * as client from 'openid-client'

export const given = JSON.parse(readFileSync(0, 'utf8'))

/** Discovery; the only word for our sake is that http will do, since everything here is on one machine. */
export const discover = (clientId, metadata, authentication) =>
  client.discovery(new URL(given.issuer), clientId, metadata, authentication, {
    execute: [client.allowInsecureRequests],
  })

/** The code flow from the address to the tokens. */
export async function signIn(config, person, wishes = {}) {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
    idTokenExpected: true,
  }
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: given.redirect_uri,
    scope: 'openid',
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    ...wishes,
  })
  const callback = await person.visit(url, given.redirect_uri)
  const answer = callback.method === 'POST' ? callback : new URL(callback.url)
  return client.authorizationCodeGrant(config, answer, checks)
}

/** How a call was refused; one that is not is a fault. */
export async function refusal(call) {
  try {
    await call
  } catch (error) {
    const { status, error: code, error_description: description, cause } = error
    return { name: error.name, status, error: code, description, cause }
  }
  throw new Error('this was to be refused')
}

export const tell = (facts) => console.log(JSON.stringify(facts))
