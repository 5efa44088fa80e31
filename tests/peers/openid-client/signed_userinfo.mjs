// Claims as a JWT, whose signature the library verifies when it is told to.

import * as client from 'openid-client'
import { discover, given, signIn, tell } from './application.mjs'
import { Person } from './person.mjs'

const metadata = { userinfo_signed_response_alg: 'RS256' }
const config = await discover('signed', metadata, client.ClientSecretBasic(given.secret))
client.enableNonRepudiationChecks(config)
const tokens = await signIn(config, new Person(given), { scope: 'openid email' })
const claims = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
tell({ claims, issuer: config.serverMetadata().issuer, sub: tokens.claims().sub })
