// Records the sessions of crash rounds outside the gateway, each only after its acknowledgement has arrived.
import { type Client, readSession, type Session } from './client.ts'
import type { SeededRandom } from './seeded-random.ts'

export interface Ledger {
  /** Logins that were answered 200 and that nobody has tried to end. */
  readonly live: Session[]
  /** Logouts that were answered 200. */
  readonly ended: Session[]
  /** Logouts that were sent and not answered. */
  readonly uncertain: Session[]
}

export function createLedger(): Ledger {
  return { live: [], ended: [], uncertain: [] }
}

/** Logs in, refreshes and logs out until `isStopped`; every wrong answer is added to `losses`. */
export async function useSessions(
  client: Client,
  { live, ended, uncertain }: Ledger,
  random: SeededRandom,
  losses: string[],
  isStopped: () => boolean,
): Promise<void> {
  const mine: Session[] = []

  async function login(): Promise<void> {
    const answer = await client.login(`session-${random.below(5)}@example.com`)
    if (answer.status !== 200) {
      losses.push(`a login was answered ${answer.status}: ${answer.text}`)
      return
    }
    const session = readSession(answer)
    mine.push(session)
    live.push(session)
  }

  async function refresh(session: Session): Promise<void> {
    const { status, text } = await client.refresh(session.refreshToken)
    if (status !== 200) losses.push(`a refresh was answered ${status}: ${text}`)
  }

  async function logout(session: Session): Promise<void> {
    mine.splice(mine.indexOf(session), 1)
    live.splice(live.indexOf(session), 1)
    uncertain.push(session)
    const { status, text } = await client.logout(session.refreshToken)
    if (status !== 200) losses.push(`a logout was answered ${status}: ${text}`)
    uncertain.splice(uncertain.indexOf(session), 1)
    ended.push(session)
  }

  while (!isStopped()) {
    const choice = random.below(8)
    const [session] = random.sample(mine, 1)
    try {
      if (!session || choice < 4) await login()
      else if (choice < 6) await refresh(session)
      else await logout(session)
    } catch (error) {
      // No answer, which is expected once the gateway has been killed.
      if (!isStopped()) losses.push(`a request failed while the gateway was serving: ${error}`)
      return
    }
  }
}

/** Compares how these sessions are answered after a restart with what was acknowledged before it. */
export async function sessionLosses(clients: readonly Client[], { live, ended, uncertain }: Ledger): Promise<string[]> {
  const losses: string[] = []

  async function expect(what: string, allowed: readonly number[], asking: Promise<{ readonly status: number }>) {
    const { status } = await asking
    if (!allowed.includes(status)) losses.push(`${what} was answered ${status}`)
  }

  const checks = [
    ...live.map(
      ({ refreshToken }) =>
        (client: Client) =>
          expect('a refresh of an acknowledged login', [200], client.refresh(refreshToken)),
    ),
    ...ended.map(({ refreshToken, accessToken }) => async (client: Client) => {
      await expect('a refresh after an acknowledged logout', [401], client.refresh(refreshToken))
      await expect('a read after an acknowledged logout', [401], client.get('/projects', accessToken))
    }),
    ...uncertain.map(
      ({ refreshToken }) =>
        (client: Client) =>
          expect('a refresh after a logout without an answer', [200, 401], client.refresh(refreshToken)),
    ),
  ]
  const next = checks.values()
  await Promise.all(
    clients.map(async (client) => {
      for (const check of next) await check(client)
    }),
  )
  return losses
}
