// The answer to the authorization request comes as a form.

import * as client from 'openid-client'
import { discover, given, refusal, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const config = await discover('basic', undefined, client.ClientSecretBasic(given.awkward_secret))
const person = new Person(given)
const tokens = await signIn(config, person, { response_mode: 'form_post' })
const stranger = new Person(given)
const silent = await refusal(signIn(config, stranger, { response_mode: 'form_post', prompt: 'none' }))
tell({ pressed: person.pressed, sub: tokens.claims().sub, silent, silently_pressed: stranger.pressed })
