// Sign-out that the application starts.

import * as client from 'openid-client'
import { discover, given, refusal, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const config = await discover('basic', undefined, client.ClientSecretBasic(given.awkward_secret))
const person = new Person(given)
const tokens = await signIn(config, person)
await signIn(config, person, { prompt: 'none' })
const before = [...person.pressed]

const state = client.randomState()
const post_logout_redirect_uri = given.goodbye
const signOut = (parameters) => client.buildEndSessionUrl(config, { post_logout_redirect_uri, ...parameters })
const back = await person.visit(signOut({ id_token_hint: tokens.id_token, state }), given.goodbye)
const silent = await refusal(signIn(config, person, { prompt: 'none' }))
const refreshed = await refusal(client.refreshTokenGrant(config, tokens.refresh_token))

// Without a hint the person is asked first, and stays at the provider.
await signIn(config, person)
const asked = person.pressed.length
const end = await person.visit(signOut({ state }), given.goodbye).catch((error) => error)
const silentAgain = await refusal(signIn(config, person, { prompt: 'none' }))
tell({
  before,
  state,
  back: back.url,
  silent,
  refreshed,
  asked: person.pressed.slice(asked),
  end: end.heading ?? end.url,
  silent_again: silentAgain,
})
