// Other processes write to the database of a serving gateway: no answer is older than the last reported commit.
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Client, type ClientAnswer, createClient, requireSession } from './support/client.ts'
import { runHere, serveForTest } from './support/command-line.ts'
import { openSqliteShell, type SqliteShell } from './support/sqlite-shell.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine } from './support/workspaces.ts'

const ROUNDS = Number(process.env.TEST_OTHER_WRITES ?? 60)
const PACED_WRITES = ROUNDS
const BURST_WRITES = ROUNDS
const QUERY = '{ me { projects { data } } }'

test('no answer and no 304 is older than what another process had reported as committed when the request started', async () => {
  const { url, shell } = await startServing([
    documentLine('project', ANA, '{"id":"kept","n":0}'),
    documentLine('project', ANA, '{"id":"moved","n":0}'),
    documentLine('project', BEN, '{"id":"kept","n":"of ben"}'),
  ])
  const writes = [...writesTo(PACED_WRITES + BURST_WRITES)]
  const states = new Map<string, number>()
  for (const [state, { projects }] of writes.entries()) {
    states.set(`[${projects.join(',')}]`, state)
    states.set(`{"data":{"me":{"projects":[${projects.map((text) => `{"data":${text}}`).join(',')}]}}}`, state)
  }
  let begun = 0
  let reported = 0
  const readers = await startReaders(url, {
    states,
    reported: () => reported,
    begun: () => begun,
  })

  async function write(state: number): Promise<void> {
    begun = state
    await shell.run(writes[state]?.sql ?? '')
    reported = state
  }

  // The gateway writes as well: its knowledge of its own writes must not hide the writes of others.
  const signIns = signInWithoutPause(url)
  for (let state = 1; state < PACED_WRITES; state += 1) {
    await write(state)
    // The second request after the write sends the entity tag of this state, so a correct gateway answers 304.
    await readers.whenEachAnswered(2)
  }
  for (let state = PACED_WRITES; state < writes.length; state += 1) await write(state)
  await readers.whenEachAnswered(2)
  const { wrong, answers, notModified, connections } = await readers.stop()

  expect(wrong).toEqual([])
  expect(await signIns.stop()).toBeGreaterThan(PACED_WRITES)
  expect(connections).toEqual(connections.map(() => 1))
  expect(answers).toBeGreaterThan(PACED_WRITES * connections.length)
  expect(notModified).toBeGreaterThan(PACED_WRITES)
})

test('a session that another process deletes is refused at the very next request', async () => {
  const { url, shell } = await startServing([documentLine('project', ANA, '{"id":"secret project"}')])
  const clients = Array.from({ length: 4 }, () => createClient(url))
  const [first] = clients
  if (!first) throw new Error('no client')
  const staying = await requireSession(first, ANA)
  const signIns = signInWithoutPause(url)
  for (let round = 0; round < ROUNDS / 2; round += 1) {
    const { accessToken, refreshToken } = await requireSession(first, ANA)
    const tags = await Promise.all(clients.map(async (client) => (await client.get('/projects', accessToken)).headers))
    await shell.run(`delete from session where id = '${sessionId(accessToken)}'`)
    const answers = await Promise.all(
      clients.flatMap((client, index) => [
        client.get('/projects', accessToken),
        client.get('/projects', accessToken, { 'if-none-match': tags[index]?.etag ?? '' }),
        client.get('/exports?r=secret', accessToken, { 'if-none-match': '*' }),
        client.graphql(QUERY, accessToken),
        client.refresh(refreshToken),
        client.logout(refreshToken),
      ]),
    )
    for (const { status, text } of answers) {
      expect([status, text]).toEqual([401, expect.stringContaining('INVALID_TOKEN')])
      expect(text).not.toContain('secret project')
    }
    expect((await first.get('/projects', staying.accessToken)).status).toBe(200)
  }
  expect(await signIns.stop()).toBeGreaterThan(ROUNDS / 2)
})

test('an export that another process deletes is no longer answered, not even with 304', async () => {
  const { url, shell } = await startServing([
    documentLine('project', ANA, '{"id":"site"}'),
    ...Array.from({ length: 50 }, (_, minute) =>
      exportLine(ANA, {
        r: 'site',
        createdAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
        elements: [`{"minute":${minute}}`],
      }),
    ),
  ])
  const client = createClient(url)
  const { accessToken } = await requireSession(client, ANA)
  let held = await client.get('/exports?r=site', accessToken)
  for (let minute = 49; minute > 0; minute -= 1) {
    expect(held.text).toBe(`[{"minute":${minute}}]`)
    await shell.run('delete from export where id = (select id from export order by instant desc limit 1)')
    held = await client.get('/exports?r=site', accessToken, { 'if-none-match': held.headers.etag ?? '' })
    expect(held.status).toBe(200)
  }
  await shell.run('delete from export')
  const none = await client.get('/exports?r=site', accessToken, { 'if-none-match': held.headers.etag ?? '' })
  expect([none.status, none.text]).toEqual([404, expect.stringContaining('NO_EXPORT')])
})

test('replacing the row of a user by hand does not bring back an earlier answer', async () => {
  const { url, shell } = await startServing([documentLine('project', ANA, '{"id":"site","n":0}')])
  using client = createClient(url)
  const { accessToken } = await requireSession(client, ANA)
  for (let n = 1; n <= 20; n += 1) {
    const before = await client.get('/projects', accessToken)
    expect(before.text).toBe(`[{"id":"site","n":${n - 1}}]`)
    await shell.run(`insert or replace into user (id, email) select id, email from user where email = '${ANA}'`)
    await shell.run(`update document set text = '{"id":"site","n":${n}}'`)
    const after = await client.get('/projects', accessToken, { 'if-none-match': before.headers.etag ?? '' })
    expect([after.status, after.text]).toEqual([200, `[{"id":"site","n":${n}}]`])
    expect((await client.graphql(QUERY, accessToken)).text).toContain(`"n":${n}}`)
  }
})

test('a document that was made invalid JSON by hand fails only the GraphQL queries that read it', async () => {
  const { url, shell } = await startServing([
    documentLine('project', ANA, '{"id":"first","n":0}'),
    documentLine('project', ANA, '{"id":"second","name":"kept"}'),
  ])
  using client = createClient(url)
  const { accessToken } = await requireSession(client, ANA)
  for (const left of [
    '{"id":"first',
    '{"id"',
    '{"id":',
    '{"id":}',
    '{"id":["a"',
    '{"name":[{}',
    '{',
    '{"a\\',
    '{"id":"a",',
  ]) {
    await shell.run(`update document set text = '${left}' where id = (select min(id) from document)`)
    const { status, text } = await client.graphql('{ me { projects { name tags } } }', accessToken)
    expect([status, JSON.parse(text).data]).toEqual([200, { me: null }])
    const failed = { path: ['me', 'projects', 0], extensions: { code: 'INTERNAL' } }
    expect(JSON.parse(text).errors).toMatchObject([failed])
    expect((await client.get('/projects', accessToken)).text).toBe(`[${left},{"id":"second","name":"kept"}]`)
    await shell.run(
      `update document set text = '{"id":"first","name":"mended"}' where id = (select min(id) from document)`,
    )
    const mended = await client.graphql('{ me { projects { name tags } } }', accessToken)
    expect(JSON.parse(mended.text).data).toEqual({
      me: {
        projects: [
          { name: 'mended', tags: null },
          { name: 'kept', tags: null },
        ],
      },
    })
  }
})

test('when a copy of the database is restored and changed while the gateway serves, the gateway answers the current state', async () => {
  const { url, shell, path } = await startServing([documentLine('project', ANA, '{"id":"site","state":"copied"}')])
  using client = createClient(url)
  const { accessToken } = await requireSession(client, ANA)
  await shell.run(`vacuum into '${path}.copy'`)
  await shell.run(`update document set text = '{"id":"site","state":"undone"}'`)
  const undone = await client.get('/projects', accessToken)
  expect(undone.text).toBe('[{"id":"site","state":"undone"}]')

  const copy = new SqliteDatabase(`${path}.copy`)
  // While the gateway writes, the driver copies nothing and reports that as 0 pages.
  while ((await copy.backup(path)).totalPages === 0);
  copy.close()
  const ifNoneMatch = { 'if-none-match': undone.headers.etag ?? '' }
  expect((await client.get('/projects', accessToken, ifNoneMatch)).text).toBe('[{"id":"site","state":"copied"}]')
  await shell.run(`update document set text = '{"id":"site","state":"new"}'`)
  const changed = await client.get('/projects', accessToken, ifNoneMatch)
  expect([changed.status, changed.text]).toEqual([200, '[{"id":"site","state":"new"}]'])
})

/** The `sid` claim of the token, which is the id of the session's row. */
function sessionId(accessToken: string): string {
  const claims: unknown = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())
  return String(Reflect.get(Object(claims), 'sid'))
}

async function startServing(lines: readonly string[]): Promise<{
  readonly url: string
  readonly path: string
  readonly shell: SqliteShell
}> {
  const path = join(temporaryDirectory(), 'workspace.db')
  const database = ['--database', `file:${path}`]
  const { exitCode, stderr } = await runHere(['import', '-', ...database], { stdin: lines.join('') })
  expect([exitCode, stderr]).toEqual([0, ''])
  const { url } = await serveForTest(database)
  return { url, path, shell: openSqliteShell(path) }
}

/** `stop` returns the number of sign-ins. */
function signInWithoutPause(url: string): { readonly stop: () => Promise<number> } {
  const client = createClient(url)
  let count = 0
  let isStopped = false
  const running = (async () => {
    for (; !isStopped; count += 1) await requireSession(client, BEN)
    client[Symbol.dispose]()
  })()
  return {
    async stop() {
      isStopped = true
      await running
      return count
    },
  }
}

interface Write {
  readonly sql: string
  /** The projects of the user after the write; no two states are the same. */
  readonly projects: readonly string[]
}

const OF_ANA = `user_id = (select id from user where email = '${ANA}')`
const KEEP = `where ${OF_ANA} and id = 'kept'`
const MOVE = `where ${OF_ANA} and id = 'moved'`
/** The row id of a document is composed of its user, its kind (1: project) and its position. */
const LAST_KEY = `(select max(key) from document where ${OF_ANA})`
const LAST_OTHER = 'key = (select max(key) from document where user_id = 2)'

/** State 0 is the import. Each later state is one more write; the kinds cover all that SQL can do to a document. */
function* writesTo(count: number): Generator<Write> {
  let kept = '{"id":"kept","n":0}'
  let moved = '{"id":"moved","n":0}'
  let added: readonly string[] = []
  let isMoved = false
  const projects = () => (isMoved ? [kept, ...added, moved] : [kept, moved, ...added])
  yield { sql: '', projects: projects() }
  for (let n = 1; n < count; n += 1) {
    const keptText = `{"id":"kept","n":${n}}`
    const movedText = `{"id":"moved","n":${n}}`
    const otherWrite = `update document set text = '{"n":${n}}' where ${LAST_OTHER};`
    const kinds: readonly (() => string)[] = [
      () => {
        kept = keptText
        return `update document set text = '${kept}' ${KEEP}`
      },
      () => {
        added = [`{"id":"added","n":${n}}`]
        isMoved = false
        return `insert into document (key, user_id, kind, id, ref, text)
          select ${LAST_KEY} + 1, user_id, kind, 'added', 'added', '${added[0]}' from document ${KEEP}`
      },
      () => {
        kept = keptText
        moved = movedText
        return `begin; update document set text = '${kept}' ${KEEP}; ${otherWrite}
          update document set text = '${moved}' ${MOVE}; commit`
      },
      () => {
        kept = keptText
        return `insert or replace into document (key, user_id, kind, id, ref, text)
          select key, user_id, kind, id, ref, '${kept}' from document ${KEEP}`
      },
      () => {
        isMoved = true
        moved = movedText
        return `update document set key = ${LAST_KEY} + 1, text = '${moved}' ${MOVE}`
      },
      () => {
        added = []
        return `delete from document where ${OF_ANA} and id = 'added'`
      },
    ]
    const sql = kinds[n % kinds.length]?.() ?? ''
    yield { sql, projects: projects() }
  }
}

interface Observed {
  /** The state that each possible body shows, for both protocols. */
  readonly states: ReadonlyMap<string, number>
  /** The newest state whose commit was reported, and the newest one whose write was begun. */
  readonly reported: () => number
  readonly begun: () => number
}

interface Readers {
  /** Resolves when each reader has received answers to `count` requests that started after this call. */
  readonly whenEachAnswered: (count: number) => Promise<void>
  readonly stop: () => Promise<{
    readonly wrong: readonly string[]
    readonly answers: number
    readonly notModified: number
    readonly connections: readonly number[]
  }>
}

type Read = (client: Client, accessToken: string, headers: Record<string, string>) => Promise<ClientAnswer>

const READS: readonly Read[] = [
  (client, accessToken, headers) => client.get('/projects', accessToken, headers),
  (client, accessToken, headers) => client.get('/projects', accessToken, headers),
  (client, accessToken, headers) => client.get('/projects', accessToken, headers),
  (client, accessToken, headers) => client.graphql(QUERY, accessToken, headers),
  (client, accessToken, headers) => client.graphql(QUERY, accessToken, headers),
  (client, accessToken, headers) => client.get(`/graphql?query=${encodeURIComponent(QUERY)}`, accessToken, headers),
]

/** Readers that ask without a pause until stopped, each on its own connection, with the last entity tag it received. */
async function startReaders(url: string, { states, reported, begun }: Observed): Promise<Readers> {
  const wrong: string[] = []
  const clients = READS.map(() => createClient(url))
  const started = READS.map(() => 0)
  const answered = READS.map(() => 0)
  const counts = { answers: 0, notModified: 0 }
  let isStopped = false
  let progress = Promise.withResolvers<void>()

  async function poll(read: Read, index: number): Promise<void> {
    const client = clients[index]
    if (!client) return
    const { accessToken } = await requireSession(client, ANA)
    let held = { tag: '', state: -1 }
    while (!isStopped) {
      const oldest = reported()
      const ticket = (started[index] ?? 0) + 1
      started[index] = ticket
      const { status, text, headers } = await read(client, accessToken, held.tag ? { 'if-none-match': held.tag } : {})
      const state = status === 304 ? held.state : states.get(text)
      if (state === undefined || state < oldest || state > begun()) {
        wrong.push(`reader ${index}: ${status} shows state ${state}, ${oldest} was reported before: ${text}`)
      }
      counts.answers += 1
      if (status === 304) counts.notModified += 1
      else if (typeof headers.etag === 'string' && state !== undefined) held = { tag: headers.etag, state }
      answered[index] = ticket
      progress.resolve()
      progress = Promise.withResolvers()
    }
  }

  const polling = Promise.all(READS.map(poll))
  // A failure is handled where the promise is awaited.
  polling.catch(() => {})
  return {
    async whenEachAnswered(count) {
      const goals = started.map((ticket) => ticket + count)
      while (goals.some((goal, index) => (answered[index] ?? 0) < goal)) await Promise.race([progress.promise, polling])
    },
    async stop() {
      isStopped = true
      await polling
      return { wrong, ...counts, connections: clients.map((client) => client.connectionsOpened()) }
    },
  }
}
