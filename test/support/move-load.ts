// Keeps people at work on several gateways while their database moves, and records what they must never see.
import { writeFileSync } from 'node:fs'
import { type Client, createClient, readSession, type Session } from './client.ts'
import { runHere } from './command-line.ts'
import type { SeededRandom } from './seeded-random.ts'
import { documentLine, exportLine } from './workspaces.ts'

const USERS = Array.from({ length: 10 }, (_, index) => `worker-${index}@example.com`)
const [FIRST_USER = ''] = USERS

export interface MoveLoadOptions {
  readonly gateways: readonly string[]
  readonly random: SeededRandom
  /** Where imports go now: the URL may change from one call to the next. */
  readonly database: () => string
  /** Called when an import is told that the database has moved. */
  readonly onMoved: () => void
  /** The path of a file for the imports of this load alone. */
  readonly file: string
  readonly people: number
  /** How many versions an earlier load has imported. */
  readonly versionsBefore?: number
  /** The pause of each person between two steps; 0 for as fast as possible. */
  readonly pauseMs: number
  /** The pause between two imports; that of a person by default. */
  readonly importPauseMs?: number
}

export interface MoveLoadReport {
  /** Every wrong answer; empty when all is well. */
  readonly wrong: readonly string[]
  readonly requests: number
  readonly logins: number
  readonly logouts: number
  readonly imports: number
  /** The last version that was imported, counting those of earlier loads. */
  readonly version: number
  /** The longest time that anybody waited for the answer to a write, and to a read. */
  readonly longestWriteMs: number
  readonly longestReadMs: number
  readonly live: readonly Session[]
  readonly ended: readonly Session[]
}

export interface MoveLoad {
  /** Resolves after an import was told that the database has moved and a later one succeeded. */
  readonly importedElsewhere: () => Promise<void>
  /** Ends the load, checks every session once more, and reports. */
  readonly stop: () => Promise<MoveLoadReport>
}

/** Starts at once; the first import is done when the promise resolves. */
export async function startMoveLoad(options: MoveLoadOptions): Promise<MoveLoad> {
  const { gateways, random, people, pauseMs, importPauseMs = pauseMs, versionsBefore = 0 } = options
  const wrong: string[] = []
  const live = new Set<Session>()
  const ended: Session[] = []
  const versions = { acknowledged: versionsBefore, started: versionsBefore }
  const totals = { requests: 0, logins: 0, logouts: 0, imports: 0, longestWriteMs: 0, longestReadMs: 0 }
  let isOver = false
  let isMoved = false
  const elsewhere = Promise.withResolvers<void>()
  const clients = gateways.map((url) => createClient(url, { connections: people * 2 }))

  const anywhere = (): Client => {
    const client = clients[random.below(clients.length)]
    if (!client) throw new Error('no gateways')
    return client
  }

  async function timed<T>(kind: 'longestWriteMs' | 'longestReadMs', asking: Promise<T>): Promise<T> {
    const start = performance.now()
    const answer = await asking
    totals[kind] = Math.max(totals[kind], performance.now() - start)
    totals.requests += 1
    return answer
  }

  function expectStatus(
    what: string,
    status: number,
    answer: { readonly status: number; readonly text: string },
  ): void {
    if (answer.status !== status) wrong.push(`${what} was answered ${answer.status}: ${answer.text.slice(0, 200)}`)
  }

  async function importNext(): Promise<void> {
    if (versions.started === versions.acknowledged) {
      versions.started += 1
      writeFileSync(options.file, importText(versions.started))
    }
    const { exitCode, stderr } = await runHere(['import', options.file, '--database', options.database()])
    if (exitCode === 0) {
      versions.acknowledged = versions.started
      totals.imports += 1
      if (isMoved) elsewhere.resolve()
    } else if (stderr.includes('has moved')) {
      isMoved = true
      options.onMoved()
    } else {
      wrong.push(`an import ended with ${exitCode}: ${stderr}`)
      elsewhere.resolve()
    }
  }

  /** Logs in, looks around, and in most cases logs out again; every step goes to a random gateway. */
  async function visit(): Promise<void> {
    const entering = await timed('longestWriteMs', anywhere().login(USERS[random.below(USERS.length)] ?? FIRST_USER))
    expectStatus('a login', 200, entering)
    if (entering.status !== 200) return
    const session = readSession(entering)
    totals.logins += 1
    const { accessToken, refreshToken } = session
    expectStatus('a read after a login', 200, await timed('longestReadMs', anywhere().get('/templates', accessToken)))
    expectStatus('a refresh', 200, await timed('longestReadMs', anywhere().refresh(refreshToken)))
    if (random.below(4) === 0) {
      live.add(session)
      return
    }
    expectStatus('a logout', 200, await timed('longestWriteMs', anywhere().logout(refreshToken)))
    totals.logouts += 1
    ended.push(session)
    expectStatus('a read after a logout', 401, await timed('longestReadMs', anywhere().get('/templates', accessToken)))
    expectStatus('a refresh after a logout', 401, await timed('longestReadMs', anywhere().refresh(refreshToken)))
  }

  /** Documents and the newest export must never be older than what was imported before the request. */
  async function read(accessToken: string): Promise<void> {
    const { acknowledged } = versions
    for (const [path, pattern] of [
      ['/projects', /^\[\{"id":"p","version":(\d+)\.0\}\]$/],
      ['/exports?r=p', /^\[(\d+)\.0,"[^"]*"\]$/],
    ] as const) {
      const answer = await timed('longestReadMs', anywhere().get(path, accessToken))
      const version = Number(pattern.exec(answer.text)?.[1] ?? Number.NaN)
      if (!(version >= acknowledged && version <= versions.started)) {
        wrong.push(
          `${path} after version ${acknowledged} was acknowledged: ${answer.status} ${answer.text.slice(0, 200)}`,
        )
      }
    }
  }

  async function repeat(step: () => Promise<void>, restMs = pauseMs): Promise<void> {
    while (!isOver) {
      try {
        await step()
      } catch (error) {
        wrong.push(`a request failed: ${error}`)
        return
      }
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
    }
  }

  await importNext()
  const reader = readSession(await anywhere().login(FIRST_USER))
  const working = Promise.all([
    ...Array.from({ length: people }, () => repeat(visit)),
    ...Array.from({ length: Math.ceil(people / 2) }, () => repeat(() => read(reader.accessToken))),
    repeat(importNext, importPauseMs),
  ])

  return {
    importedElsewhere: () => elsewhere.promise,
    async stop() {
      isOver = true
      await working
      await read(reader.accessToken)
      for (const { refreshToken } of live) {
        expectStatus('a refresh of an acknowledged login, in the end,', 200, await anywhere().refresh(refreshToken))
      }
      for (const { refreshToken, accessToken } of ended) {
        expectStatus('a refresh after a logout, in the end,', 401, await anywhere().refresh(refreshToken))
        expectStatus('a read after a logout, in the end,', 401, await anywhere().get('/templates', accessToken))
      }
      for (const client of clients) client[Symbol.dispose]()
      return { wrong, ...totals, version: versions.started, live: [...live], ended }
    },
  }
}

function importText(version: number): string {
  const createdAt = new Date(Date.UTC(2026, 0, 1) + version * 1_000).toISOString()
  return USERS.map(
    (email) =>
      documentLine('project', email, `{"id":"p","version":${version}.0}`) +
      documentLine('template', email, `{"id":"t","version":${version}.0}`) +
      exportLine(email, { r: 'p', createdAt, elements: [`${version}.0`, `"${'é'.repeat(40)}"`] }),
  ).join('')
}
