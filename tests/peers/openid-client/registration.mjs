// An application that registers itself, signs somebody in, looks at its registration and ends it.

import * as client from 'openid-client'
import { discover, given, refusal, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const register = (metadata, initialAccessToken) =>
  client.dynamicClientRegistration(new URL(given.issuer), metadata, undefined, {
    execute: [client.allowInsecureRequests],
    initialAccessToken,
  })
const application = {
  client_name: 'Registered by itself',
  redirect_uris: [given.redirect_uri],
  grant_types: ['authorization_code', 'refresh_token'],
  // What the library sends unless it is told otherwise.
  token_endpoint_auth_method: 'client_secret_post',
}

const uninvited = await refusal(register(application))
const elsewhere = await refusal(register({ ...application, redirect_uris: ['http://shop.example/cb'] }, given.token))
const config = await register(application, given.token)
const registered = config.clientMetadata()
const person = new Person(given)
const tokens = await signIn(config, person, { scope: 'openid email' })
const userinfo = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token)

const manage = (method) =>
  client.fetchProtectedResource(
    config,
    registered.registration_access_token,
    new URL(registered.registration_client_uri),
    method,
  )
const read = await (await manage('GET')).json()
const deleted = (await manage('DELETE')).status
const again = await discover(registered.client_id, registered.client_secret)
tell({
  uninvited,
  elsewhere,
  registered,
  pressed: person.pressed,
  claims: tokens.claims(),
  userinfo,
  refreshed: refreshed.scope,
  read,
  deleted,
  refresh_after_deletion: await refusal(client.refreshTokenGrant(again, refreshed.refresh_token)),
})
