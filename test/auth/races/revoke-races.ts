// Races the end of a session against reads with it. Every read that begins after the acknowledged end must be refused.
import { type Client, createClient, readSession, type Session } from '../../support/client.ts'
import { documentLine } from '../../support/workspaces.ts'

/** Reads in flight when the session is ended, and reads that begin after it. */
const READS_DURING = 6
const READS_AFTER = 4

export interface RevokeRacesOptions {
  /** The gateways, all on one database that holds the workspaces of `racers`. */
  readonly urls: readonly string[]
  readonly races: number
  readonly concurrency: number
  readonly onProgress?: (report: RevokeRacesReport) => void
}

export interface RevokeRacesReport {
  readonly races: number
  /** Successful reads that began after the end was acknowledged. */
  readonly lateSuccesses: number
  /** Successful reads that were in flight at the end. */
  readonly duringSuccesses: number
  readonly duringRefusals: number
}

/** Returns the workspaces that `concurrency` concurrent races need. */
export function racers(concurrency: number): string {
  return Array.from({ length: concurrency }, (_, racer) => documentLine('project', emailOf(racer), '{"id":"p"}')).join(
    '',
  )
}

function emailOf(racer: number): string {
  return `racer${racer}@example.com`
}

export async function runRevokeRaces(options: RevokeRacesOptions): Promise<RevokeRacesReport> {
  const { urls, races, concurrency, onProgress } = options
  const counts = { races: 0, lateSuccesses: 0, duringSuccesses: 0, duringRefusals: 0 }
  const clients = urls.map((url) => createClient(url, { connections: concurrency * 2 }))
  const any = (index: number): Client => {
    const client = clients[index % clients.length]
    if (!client) throw new Error('there is no gateway')
    return client
  }
  let begun = 0

  async function isLetIn(client: Client, { accessToken }: Session): Promise<boolean> {
    const { status, text } = await client.get('/projects', accessToken)
    if (status !== 200 && status !== 401) throw new Error(`a read was answered ${status}: ${text}`)
    return status === 200
  }

  async function login(client: Client, email: string): Promise<Session> {
    const answer = await client.login(email)
    if (answer.status !== 200) throw new Error(`a login was answered ${answer.status}: ${answer.text}`)
    return readSession(answer)
  }

  async function ask(client: Client, query: string, { accessToken }: Session) {
    const { status, text } = await client.graphql(query, accessToken)
    if (status !== 200) throw new Error(`${query} was answered ${status}: ${text}`)
    return JSON.parse(text).data
  }

  async function race(number: number, racer: number): Promise<void> {
    const email = emailOf(racer)
    const [ended, asking] = [await login(any(number), email), await login(any(number + 1), email)]
    const isEverywhere = number % 2 === 0
    const shown = await ask(any(number), '{ me { sessions { id current } } }', ended)
    const id = shown.me.sessions.find(({ current }: { current: boolean }) => current).id
    const during = Promise.all(Array.from({ length: READS_DURING }, (_, index) => isLetIn(any(index), ended)))
    // The failure is reported by the await below; until then nothing else handles it.
    during.catch(() => {})
    const query = isEverywhere ? 'mutation { logoutEverywhere }' : `mutation { revokeSession(id: "${id}") }`
    await ask(any(number + 1), query, asking)
    const after = await Promise.all(
      Array.from({ length: READS_AFTER * clients.length }, (_, index) => isLetIn(any(index), ended)),
    )
    if (!isEverywhere) await ask(any(number), 'mutation { logoutEverywhere }', asking)
    counts.lateSuccesses += after.filter(Boolean).length
    const answered = await during
    counts.duringSuccesses += answered.filter(Boolean).length
    counts.duringRefusals += answered.filter((isIn) => !isIn).length
    counts.races += 1
    if (counts.races % 1_000 === 0) onProgress?.({ ...counts })
  }

  async function raceOn(racer: number): Promise<void> {
    while (begun < races) {
      begun += 1
      await race(begun, racer)
    }
  }

  try {
    await Promise.all(Array.from({ length: concurrency }, (_, racer) => raceOn(racer)))
    return { ...counts }
  } finally {
    for (const client of clients) client[Symbol.dispose]()
  }
}
