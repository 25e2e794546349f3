// Checks of DELETE /logout, which ends the session of the refresh token in its body.
import { CannotTellError } from '../cannot-tell.ts'
import { type Check, unlessStatus, unlessSuccess } from '../check.ts'
import type { ProbeAnswer } from '../exchange.ts'
import { bearer, requireRefreshToken, type Tokens } from '../own-session.ts'
import type { Probe } from '../probe.ts'
import { renew } from './token.ts'
import { NO_TOKEN, UNKNOWN_TOKEN } from './tokens.ts'

const group = 'DELETE /logout'

export const LOGOUT_CHECKS: readonly Check[] = [
  {
    group,
    name: 'answers 200 to the refresh token in its body',
    source: 'contract',
    run: async (probe) => unlessStatus(await logout(probe, (await sessionToEnd(probe)).refreshToken), 200),
  },
  {
    group,
    name: 'ends the session: POST /token answers 401 afterwards',
    source: 'contract',
    run: async (probe) => unlessStatus(await renew(probe, (await endedSession(probe)).refreshToken), 401),
  },
  {
    group,
    name: 'answers 401 to a token that was logged out before',
    source: 'contract',
    run: async (probe) => unlessStatus(await logout(probe, (await endedSession(probe)).refreshToken), 401),
  },
  {
    group,
    name: 'ends no other session of the user',
    source: 'contract',
    async run(probe) {
      const session = await sessionToEnd(probe)
      const other = await sessionToEnd(probe)
      await end(probe, session)
      return unlessSuccess(await renew(probe, other.refreshToken))
    },
  },
  {
    group,
    name: 'ends the access tokens of the session at once',
    source: 'gateway',
    async run(probe) {
      const { accessToken } = await endedSession(probe)
      const answer = await probe.send({ method: 'GET', path: '/projects', headers: bearer(accessToken) })
      return unlessStatus(answer, 401)
    },
  },
  {
    group,
    name: 'answers 401 without a token',
    source: 'contract',
    run: async (probe) => unlessStatus(await probe.send({ method: 'DELETE', path: '/logout', body: NO_TOKEN }), 401),
  },
  {
    group,
    name: 'answers 401 without a body',
    source: 'contract',
    run: async (probe) => unlessStatus(await probe.send({ method: 'DELETE', path: '/logout' }), 401),
  },
  {
    group,
    name: 'answers 401 to a token nobody was given',
    source: 'contract',
    run: async (probe) =>
      unlessStatus(await probe.send({ method: 'DELETE', path: '/logout', body: UNKNOWN_TOKEN }), 401),
  },
  {
    group,
    name: 'is there as POST /logout too, for who cannot send a body with DELETE',
    source: 'gateway',
    async run(probe) {
      const { refreshToken } = await sessionToEnd(probe)
      const answer = await probe.send({ method: 'POST', path: '/logout', body: { refreshToken } })
      return unlessStatus(answer, 200) ?? unlessStatus(await renew(probe, refreshToken), 401)
    },
  },
]

function logout(probe: Probe, refreshToken: string): Promise<ProbeAnswer> {
  return probe.send({ method: 'DELETE', path: '/logout', body: { refreshToken } })
}

async function sessionToEnd(probe: Probe): Promise<Tokens> {
  const session = await probe.newSession()
  requireRefreshToken(session)
  return session
}

async function endedSession(probe: Probe): Promise<Tokens> {
  const session = await sessionToEnd(probe)
  await end(probe, session)
  return session
}

async function end(probe: Probe, { refreshToken }: Tokens): Promise<void> {
  const { status } = await logout(probe, refreshToken)
  if (status >= 300) throw new CannotTellError(`DELETE /logout answered ${status}`)
}
