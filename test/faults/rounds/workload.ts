// Runs sessions, imports and reads during a fault, with a ledger of everything acknowledged.
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient, readSession, requireSession, type Session } from '../../support/client.ts'
import { emailOf, importFile, observeExport, type Versions } from '../../support/crash-imports.ts'
import { createLedger, type Ledger } from '../../support/crash-ledger.ts'
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts'

const CLIENTS = 5
/** The pause of a client that was refused or lost its connection. */
const PAUSE_MS = 5
export const IMPORT_TOKEN = 'a-token-of-the-fault-rounds-which-nobody-else-has'

/**
 * The versions that were imported: all up to `acknowledged` were answered as imported; the last one may only have been
 * started.
 */
export interface ImportLedger {
  acknowledged: number
  started: number
}

export interface Workload {
  readonly ledger: Ledger
  readonly versions: Versions
  /** How many answers were compared with the expected ones. */
  readonly compared: () => number
  /** Wrong answers, which no fault excuses. */
  readonly problems: readonly string[]
  /** How many requests were refused or broke off since `mark` was called. */
  readonly failedSince: () => number
  readonly mark: () => void
  /** Resolves when every request has its answer or has failed. */
  readonly stop: () => Promise<void>
}

export function startWorkload(url: string, versions: ImportLedger, random: SeededRandom): Workload {
  const ledger = createLedger()
  const problems: string[] = []
  let [isOver, compared, failed] = [false, 0, 0]
  const clients = Array.from({ length: CLIENTS + 1 }, () => createClient(url))
  const [reader, ...users] = clients

  async function failure(): Promise<void> {
    failed += 1
    await delay(PAUSE_MS)
  }

  /** Signs in and out. The outcome of a request without a 200 is uncertain, whatever the answer says. */
  async function useSessions(client: Client, own: SeededRandom): Promise<void> {
    const mine: Session[] = []
    while (!isOver) {
      const session = own.below(3) === 0 ? mine.pop() : undefined
      try {
        if (session) {
          ledger.live.splice(ledger.live.indexOf(session), 1)
          ledger.uncertain.push(session)
          const { status } = await client.logout(session.refreshToken)
          if (status !== 200) {
            await failure()
            continue
          }
          ledger.uncertain.splice(ledger.uncertain.indexOf(session), 1)
          ledger.ended.push(session)
        } else {
          const answer = await client.login(`user-${own.below(9)}@example.com`)
          if (answer.status !== 200) {
            await failure()
            continue
          }
          mine.push(readSession(answer))
          ledger.live.push(...mine.slice(-1))
        }
      } catch {
        await failure()
      }
    }
  }

  async function importAgainAndAgain(): Promise<void> {
    while (!isOver) {
      if (versions.started === versions.acknowledged) versions.started += 1
      if ((await importVersion(url, versions.started)) === 'imported') versions.acknowledged = versions.started
      else await delay(PAUSE_MS)
    }
  }

  async function readExports(client: Client): Promise<void> {
    const user = random.below(3)
    let session: Session | null = null
    for (let ref = 0; !isOver; ref += 1) {
      try {
        session ??= await requireSession(client, emailOf(user))
        const problem = await observeExport(client, session.accessToken, { user, ref, mayFail: true }, () => versions)
        compared += 1
        if (problem) problems.push(problem)
      } catch {
        await failure()
      }
    }
  }

  const working = Promise.all([
    ...users.map((client) => useSessions(client, createSeededRandom(random.below(2 ** 31)))),
    reader && readExports(reader),
    importAgainAndAgain(),
  ])

  return {
    ledger,
    versions,
    problems,
    compared: () => compared,
    failedSince: () => failed,
    mark() {
      failed = 0
    },
    async stop() {
      isOver = true
      await working
      for (const client of clients) client[Symbol.dispose]()
    },
  }
}

/** Returns `imported` when the import was acknowledged, else what came instead. */
export async function importVersion(url: string, version: number): Promise<string> {
  try {
    const answer = await fetch(`${url}/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${IMPORT_TOKEN}` },
      body: importFile(version),
    })
    const last = (await answer.text()).trimEnd().split('\n').at(-1) ?? ''
    return answer.status === 200 && JSON.parse(last).type === 'imported' ? 'imported' : `${answer.status} ${last}`
  } catch (error) {
    return error instanceof Error ? `${error.message}: ${error.cause}` : String(error)
  }
}
