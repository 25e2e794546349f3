// Checks of POST /login, which issues tokens for an email.
import { memberOf } from '../../member-of.ts'
import { jsonOf, typeOf, unlessJwt, unlessSentAsJson } from '../answer-body.ts'
import { type Check, unlessStatus, unlessSuccess } from '../check.ts'
import { requireRefreshToken } from '../own-session.ts'
import type { Probe } from '../probe.ts'
import { unlessHeader } from './header.ts'
import { renew } from './token.ts'

const group = 'POST /login'

export const LOGIN_CHECKS: readonly Check[] = [
  { group, name: 'answers 200', source: 'contract', run: async (probe) => unlessStatus(await probe.login(), 200) },
  {
    group,
    name: 'answers JSON',
    source: 'contract',
    run: async (probe) => unlessSentAsJson(await probe.login()),
  },
  {
    group,
    name: 'answers accessToken and refreshToken as strings',
    source: 'contract',
    async run(probe) {
      const body = jsonOf(await probe.login())
      const missing = ['accessToken', 'refreshToken'].filter((name) => typeof memberOf(body, name) !== 'string')
      return missing.length === 0
        ? null
        : missing.map((name) => `${name} is ${nameType(memberOf(body, name))}`).join(', ')
    },
  },
  {
    group,
    name: 'answers a JWT as the access token',
    source: 'contract',
    run: async (probe) => unlessJwt((await probe.session()).accessToken),
  },
  {
    group,
    name: 'opens another session each time',
    source: 'contract',
    async run(probe) {
      const [first, second] = [await probe.session(), await probe.newSession()]
      return requireRefreshToken(first) === requireRefreshToken(second)
        ? 'two logins answered the same refresh token'
        : null
    },
  },
  {
    group,
    name: 'signs nobody in without an email',
    source: 'contract',
    run: (probe) => unlessRefused(probe, {}),
  },
  {
    group,
    name: 'signs nobody in with an email that is not a string',
    source: 'contract',
    run: (probe) => unlessRefused(probe, { email: 1 }),
  },
  {
    group,
    name: 'answers 400 without an email',
    source: 'gateway',
    run: async (probe) => unlessStatus(await probe.send({ method: 'POST', path: '/login', body: {} }), 400),
  },
  {
    group,
    name: 'answers 400 to a body that is not JSON',
    source: 'gateway',
    run: async (probe) => unlessStatus(await probe.send({ method: 'POST', path: '/login', body: '{"email":' }), 400),
  },
  {
    group,
    name: 'tells caches not to store tokens',
    source: 'gateway',
    run: async (probe) => unlessHeader(await probe.login(), 'cache-control', /no-store/),
  },
  {
    group,
    name: 'ends no earlier session of the user',
    source: 'gateway',
    async run(probe) {
      const refreshToken = requireRefreshToken(await probe.newSession())
      await probe.newSession()
      return unlessSuccess(await renew(probe, refreshToken))
    },
  },
]

async function unlessRefused(probe: Probe, body: object): Promise<string | null> {
  const answer = await probe.send({ method: 'POST', path: '/login', body })
  const hasToken = memberOf(jsonOf(answer), 'accessToken') !== undefined
  return hasToken || answer.status < 400 ? `answered ${answer.status}${hasToken ? ' with tokens' : ''}` : null
}

function nameType(value: unknown): string {
  return value === undefined ? 'missing' : typeOf(value)
}
