// A confidential client with a secret, from sign-in to revocation.

import * as client from 'openid-client'
import { discover, given, refusal, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const config = await discover('basic', undefined, client.ClientSecretBasic(given.awkward_secret))
const person = new Person(given)
const scope = 'openid profile email offline_access'
const tokens = await signIn(config, person, { scope, prompt: 'consent' })
const claims = tokens.claims()
const userinfo = await client.fetchUserInfo(config, tokens.access_token, claims.sub)

const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token)
const narrowed = await client.refreshTokenGrant(config, refreshed.refresh_token, { scope: 'openid email' })
const introspected = await client.tokenIntrospection(config, narrowed.access_token)
await client.tokenRevocation(config, narrowed.refresh_token)

tell({
  pkce: config.serverMetadata().supportsPKCE(),
  pressed: person.pressed,
  tokens,
  claims,
  userinfo,
  refreshed,
  refreshed_claims: refreshed.claims(),
  narrowed,
  introspected,
  introspected_after_revocation: await client.tokenIntrospection(config, narrowed.access_token),
  refresh_after_revocation: await refusal(client.refreshTokenGrant(config, narrowed.refresh_token)),
})
