// The response types that bring an ID token through the browser, in the fragment and as a form.

import * as client from 'openid-client'
import { discover, given, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const person = new Person(given)

async function hybrid(wishes) {
  const config = await discover('hybrid', undefined, client.ClientSecretBasic(given.awkward_secret))
  client.useCodeIdTokenResponseType(config)
  const tokens = await signIn(config, person, { scope: 'openid email', ...wishes })
  const userinfo = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
  return { sub: tokens.claims().sub, email: userinfo.email }
}

async function implicit(wishes) {
  const config = await discover('implicit', undefined, client.None())
  client.useIdTokenResponseType(config)
  const nonce = client.randomNonce()
  const state = client.randomState()
  const { redirect_uri } = given
  const url = client.buildAuthorizationUrl(config, { redirect_uri, scope: 'openid email', nonce, state, ...wishes })
  const callback = await person.visit(url, redirect_uri)
  const answer = callback.method === 'POST' ? callback : new URL(callback.url)
  const { sub, email } = await client.implicitAuthentication(config, answer, nonce, { expectedState: state })
  return { sub, email }
}

const form = { response_mode: 'form_post' }
tell({
  hybrid: await hybrid(),
  hybrid_form: await hybrid(form),
  implicit: await implicit(),
  implicit_form: await implicit(form),
})
