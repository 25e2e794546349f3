// Checks of POST /token, which issues a new access token for a refresh token, which stays valid.
import { memberOf } from '../../member-of.ts'
import { jsonOf, unlessSentAsJson } from '../answer-body.ts'
import { CannotTellError } from '../cannot-tell.ts'
import { type Check, unlessStatus, unlessSuccess } from '../check.ts'
import type { ProbeAnswer } from '../exchange.ts'
import { bearer, requireRefreshToken, whileRefused } from '../own-session.ts'
import type { Probe } from '../probe.ts'
import { unlessHeader } from './header.ts'
import { NO_TOKEN, UNKNOWN_TOKEN } from './tokens.ts'

const group = 'POST /token'
const AT_ONCE = 5

export const TOKEN_CHECKS: readonly Check[] = [
  {
    group,
    name: 'answers 200 and an accessToken',
    source: 'contract',
    async run(probe) {
      const answer = await renew(probe, await newRefreshToken(probe))
      return unlessStatus(answer, 200) ?? unlessSentAsJson(answer) ?? unlessAccessToken(answer)
    },
  },
  {
    group,
    name: 'answers an access token that reads accept',
    source: 'contract',
    async run(probe) {
      const answer = await whileRefused(async () =>
        probe.send({ method: 'GET', path: '/projects', headers: bearer(await renewedToken(probe)) }),
      )
      return unlessStatus(answer, 200, 404)
    },
  },
  {
    group,
    name: 'takes the same refresh token again',
    source: 'contract',
    async run(probe) {
      const refreshToken = await newRefreshToken(probe)
      await renew(probe, refreshToken)
      return unlessSuccess(await renew(probe, refreshToken))
    },
  },
  {
    group,
    name: 'takes the same refresh token several times at once',
    source: 'gateway',
    async run(probe) {
      const refreshToken = await newRefreshToken(probe)
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => renew(probe, refreshToken)))
      return answers.map(unlessSuccess).find((found) => found !== null) ?? null
    },
  },
  { group, name: 'answers 401 without a token', source: 'contract', run: (probe) => unless401(probe, NO_TOKEN) },
  {
    group,
    name: 'answers 401 to a token nobody was given',
    source: 'contract',
    run: (probe) => unless401(probe, UNKNOWN_TOKEN),
  },
  {
    group,
    name: 'answers 401 to a token that is not a string',
    source: 'gateway',
    run: (probe) => unless401(probe, { refreshToken: 1 }),
  },
  {
    group,
    name: 'answers 401 to an access token',
    source: 'contract',
    run: async (probe) => unless401(probe, { refreshToken: (await probe.newSession()).accessToken }),
  },
  {
    group,
    name: 'says how to sign in with its 401 (RFC 9110, section 15.5.2)',
    source: 'gateway',
    run: async (probe) =>
      unlessHeader(
        await probe.send({ method: 'POST', path: '/token', body: NO_TOKEN }),
        'www-authenticate',
        /^Bearer\b/i,
      ),
  },
]

export function renew(probe: Probe, refreshToken: string): Promise<ProbeAnswer> {
  return probe.send({ method: 'POST', path: '/token', body: { refreshToken } })
}

async function renewedToken(probe: Probe): Promise<string> {
  const accessToken = memberOf(jsonOf(await renew(probe, await newRefreshToken(probe))), 'accessToken')
  if (typeof accessToken !== 'string') throw new CannotTellError('no new access token')
  return accessToken
}

/** Of the latest login, because a server may keep only that session of a user. */
async function newRefreshToken(probe: Probe): Promise<string> {
  return requireRefreshToken(await probe.newSession())
}

async function unless401(probe: Probe, body: object): Promise<string | null> {
  return unlessStatus(await probe.send({ method: 'POST', path: '/token', body }), 401)
}

function unlessAccessToken(answer: ProbeAnswer): string | null {
  return typeof memberOf(jsonOf(answer), 'accessToken') === 'string' ? null : 'there is no accessToken'
}
