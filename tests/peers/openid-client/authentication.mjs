// One client for each way of authentication: sign-in, refresh, introspection, revocation.

import * as client from 'openid-client'
import { discover, given, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const key = await crypto.subtle.importKey('jwk', given.key, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
const ways = {
  basic: client.ClientSecretBasic(given.awkward_secret),
  post: client.ClientSecretPost(given.secret),
  hmac: client.ClientSecretJwt(given.secret),
  signer: client.PrivateKeyJwt({ key, kid: given.key.kid }),
  native: client.None(),
}
const person = new Person(given)
const seen = {}
for (const [clientId, authentication] of Object.entries(ways)) {
  const config = await discover(clientId, undefined, authentication)
  const tokens = await signIn(config, person, { scope: 'openid profile' })
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token)
  // A public client may not ask about tokens (RFC 7662 section 2.1), so it is not asked to.
  const introspected = clientId === 'native' ? null : await client.tokenIntrospection(config, refreshed.access_token)
  await client.tokenRevocation(config, refreshed.refresh_token)
  seen[clientId] = { sub: tokens.claims().sub, azp: tokens.claims().azp, scope: refreshed.scope, introspected }
}
tell(seen)
