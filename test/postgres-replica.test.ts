// Tests reads from a real streaming standby, which is used while it is in the state that the session lookup on the
// primary saw.
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway, type TestGatewayOptions } from './support/gateway.ts'
import { interruptedGateway } from './support/interrupted-gateway.ts'
import { execute, POSTGRES_DIRECTORY } from './support/postgres.ts'
import { type ReplicatedServers, startReplicated } from './support/postgres-replica.ts'
import { recordStatements, type Statements, sendTogether } from './support/statements.ts'
import { documentLine, exportLine } from './support/workspaces.ts'

/** The maximum number of requests that one connection may have in flight. */
/** A new GraphQL document of each user takes four of the 64 places of a turn. */
const COUNT = 12
const USERS = Array.from({ length: COUNT }, (_, index) => `u${index}@example.com`)
const [ANA = '', BEN = ''] = USERS

const project = (email: string, version: number): string => documentLine('project', email, `{"id":"p","v":${version}}`)
const anExport = (email: string, day: number, elements: readonly string[]): string =>
  exportLine(email, { r: 'p', createdAt: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`, elements })

describe.skipIf(POSTGRES_DIRECTORY === null)('a replica of PostgreSQL', () => {
  let servers: ReplicatedServers
  let options: TestGatewayOptions
  let gateway: TestGateway
  let tokens: readonly string[]
  /** Changes of the replica's health, in order: resolves at the next change to this value. */
  let next: (isHealthy: boolean) => Promise<void>
  let statements: Statements

  beforeAll(async () => {
    servers = await startReplicated({ directory: POSTGRES_DIRECTORY ?? '' })
    return () => servers[Symbol.asyncDispose]()
  })

  beforeEach(async () => {
    const name = `wg_${randomUUID().replaceAll('-', '')}`
    await execute(servers.primary.url('postgres'), `create database ${name}`)
    await servers.resumeReplay()
    await servers.untilCaughtUp()
    const changes = observeChanges()
    next = changes.next
    options = {
      databaseUrl: servers.primary.url(name),
      replica: { url: servers.standby.url(name), timeoutMs: 2_000, onChange: changes.onChange },
      cacheBytes: 0,
    }
    gateway = await startGateway(options)
    await gateway.load(USERS.map((email) => project(email, 0) + anExport(email, 1, ['1', '2'])).join(''))
    tokens = await Promise.all(USERS.map(async (email) => (await gateway.login(email)).accessToken))
    // Other threads check the signatures, once per token.
    await Promise.all(tokens.map((token) => gateway.get('/templates', token)))
    await servers.untilCaughtUp()
    await next(true)
    statements = recordStatements()
  })

  const read = async (user: number, path = '/projects'): Promise<string> => {
    const answer = await gateway.get(path, tokens[user])
    expect(answer.status, answer.text).toBe(200)
    return answer.text
  }
  const onPrimary = () => statements.names(servers.primary.port)
  const onStandby = () => statements.names(servers.standby.port)

  test('answers all reads of one turn together, after the primary has looked up their sessions', async () => {
    const bodies = await sendTogether(
      gateway,
      tokens.map((token) => `GET /projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    )
    expect(bodies).toEqual(USERS.map(() => '[{"id":"p","v":0}]'))
    expect([onPrimary(), onStandby()]).toEqual([['liveSessions'], ['documentsWithin']])
    const user = await gateway.store.userByEmail(ANA)
    expect(await gateway.store.documentCounts([{ userId: user?.id ?? 0, kind: 'project' }])).toEqual([1])
    expect([onPrimary(), onStandby()]).toEqual([['userByEmail', 'documentCounts'], []])

    const query = encodeURIComponent('{ me { projects { data latestExport { data } } } }')
    const inGraphQL = await sendTogether(
      gateway,
      tokens.map(
        (token) =>
          `GET /graphql?query=${query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n\r\n`,
      ),
    )
    expect(new Set(inGraphQL)).toEqual(
      new Set(['{"data":{"me":{"projects":[{"data":{"id":"p","v":0},"latestExport":{"data":[1,2]}}]}}}']),
    )
    expect([onPrimary(), onStandby()]).toEqual([
      ['liveSessions'],
      ['documentsWithin', 'latestExports', 'elementRunsOf'],
    ])
  })

  test('gives a single state to a request whose first read it answered', async () => {
    const { gateway: other, beforeNext, snapshots } = await interruptedGateway(options)
    const { accessToken } = await other.login(ANA)
    await servers.untilCaughtUp()
    await next(true)
    beforeNext('documentCounts', async () => {
      await other.load(documentLine('project', ANA, '{"id":"q"}'))
      await servers.untilCaughtUp()
    })
    statements.names()
    const query = '{ me { projects { data } projectsConnection { totalCount } } }'
    const { data } = (await other.graphql(query, { accessToken })).json()
    expect(data.me).toEqual({
      projects: [{ data: { id: 'p', v: 0 } }, { data: { id: 'q' } }],
      projectsConnection: { totalCount: 2 },
    })
    expect(onStandby()).toContain('documentsWithin')
    expect(snapshots()).toBe(1)
  })

  test('answers users without newer changes while it lags; the primary answers the others', async () => {
    await servers.pauseReplay()
    await gateway.load(project(ANA, 1) + anExport(ANA, 2, ['3']))
    statements.names()
    expect([await read(0), await read(0, '/exports?r=p')]).toEqual(['[{"id":"p","v":1}]', '[3]'])
    expect(onPrimary()).toEqual(['liveSessions', 'documentsWithin', 'liveSessions', 'latestExports', 'elementRunsOf'])
    onStandby()
    expect([await read(1), await read(1, '/exports?r=p')]).toEqual(['[{"id":"p","v":0}]', '[1,2]'])
    expect(onPrimary()).toEqual(['liveSessions', 'liveSessions'])
    const both = await sendTogether(
      gateway,
      tokens.map((token) => `GET /projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    )
    expect(both).toEqual(USERS.map((_, index) => `[{"id":"p","v":${index === 0 ? 1 : 0}}]`))
    expect(onPrimary()).toEqual(['liveSessions', 'documentsWithin'])
    await servers.resumeReplay()
    await servers.untilCaughtUp()
    statements.names()
    expect([await read(0), await read(0, '/exports?r=p')]).toEqual(['[{"id":"p","v":1}]', '[3]'])
    expect([onPrimary(), onStandby()]).toEqual([
      ['liveSessions', 'liveSessions'],
      ['documentsWithin', 'latestExports', 'elementRunsOf'],
    ])
  })

  test('does not answer from its outdated state after users were added, or users and documents deleted', async () => {
    await servers.pauseReplay()
    await gateway.load(project('new@example.com', 1))
    const { accessToken } = await gateway.login('new@example.com')
    expect((await gateway.get('/projects', accessToken)).text).toBe('[{"id":"p","v":1}]')
    await execute(gateway.databaseUrl, `delete from workspace_gateway.user where email = '${ANA}'`)
    expect((await gateway.get('/projects', tokens[0])).json().code).toBe('NO_WORKSPACE')
    await execute(gateway.databaseUrl, `delete from workspace_gateway.document`)
    expect(await read(1)).toBe('[]')
    expect((await gateway.get('/exports?r=p', tokens[1])).json().code).toBe('NO_PROJECT')
    await servers.resumeReplay()
  })

  test('is skipped after it was killed, and used again when it is back', async () => {
    for (let round = 1; round <= 2; round += 1) {
      await servers.standby.crash()
      await gateway.load(project(ANA, round))
      const [mine, theirs] = await Promise.all([read(0), read(1), next(false)])
      expect([mine, theirs]).toEqual([`[{"id":"p","v":${round}}]`, '[{"id":"p","v":0}]'])
      expect((await gateway.get('/readyz')).status).toBe(200)
      statements.names()
      expect(await read(1)).toBe('[{"id":"p","v":0}]')
      expect([onPrimary(), onStandby()]).toEqual([['liveSessions', 'documentsWithin'], []])
      await servers.standby.start()
      await next(true)
      await servers.untilCaughtUp()
      statements.names()
      expect(await read(0)).toBe(`[{"id":"p","v":${round}}]`)
      expect([onPrimary(), onStandby()]).toEqual([['liveSessions'], ['documentsWithin']])
    }
  })

  test('reports its lag, and no lag while it is skipped', async () => {
    const told = async () => (await gateway.store.statistics(Date.now())).replica
    expect(await told()).toMatchObject({ isUsed: true, lagSeconds: 0 })
    await servers.pauseReplay()
    await gateway.load(project(ANA, 1))
    await expect.poll(async () => (await told())?.lagSeconds).toBeGreaterThan(0)
    await servers.resumeReplay()
    await servers.untilCaughtUp()
    expect(await told()).toMatchObject({ isUsed: true, lagSeconds: 0 })
    await servers.standby.crash()
    await gateway.load(project(ANA, 2))
    await Promise.all([read(1), next(false)])
    expect(await told()).toMatchObject({ isUsed: false, lagSeconds: null })
    await servers.standby.start()
    await next(true)
  })

  test('reports a lag while it is cut off from its primary, although it has applied all that it received', async () => {
    const lag = async () => (await gateway.store.statistics(Date.now())).replica?.lagSeconds
    const file = join(servers.primary.dataDirectory, 'pg_hba.conf')
    const rules = await readFile(file, 'utf8')
    await writeFile(file, `host replication all all reject\n${rules}`)
    try {
      await execute(servers.primary.url('postgres'), 'select pg_reload_conf()')
      await execute(servers.primary.url('postgres'), 'select pg_terminate_backend(pid) from pg_stat_replication')
      await expect.poll(lag).toBeGreaterThan(0)
      expect(await read(0)).toBe('[{"id":"p","v":0}]')
    } finally {
      await writeFile(file, rules)
      await execute(servers.primary.url('postgres'), 'select pg_reload_conf()')
    }
    await servers.untilCaughtUp()
    await expect.poll(lag).toBe(0)
  })

  test('is skipped when it hangs; the primary answers the reads in flight and the following ones', async () => {
    await servers.standby.freeze()
    try {
      // The standby never answers, so every answer comes from the primary.
      const answers = await Promise.all([...tokens.map((_, user) => read(user)), next(false)])
      expect(answers.slice(0, COUNT)).toEqual(USERS.map(() => '[{"id":"p","v":0}]'))
      statements.names()
      expect(await read(2, '/exports?r=p')).toBe('[1,2]')
      expect(onStandby()).toEqual([])
    } finally {
      await servers.standby.thaw()
    }
    await next(true)
    statements.names()
    expect(await read(2)).toBe('[{"id":"p","v":0}]')
    expect(onPrimary()).toEqual(['liveSessions'])
  })

  test('is skipped when its statements fail, and no error is reported', async () => {
    await execute(gateway.databaseUrl, 'alter table workspace_gateway.document rename to away')
    await servers.untilCaughtUp()
    await servers.pauseReplay()
    await execute(gateway.databaseUrl, 'alter table workspace_gateway.away rename to document')
    const [answer] = await Promise.all([read(0), next(false)])
    expect(answer).toBe('[{"id":"p","v":0}]')
    expect(gateway.reported).toEqual([])
    await servers.resumeReplay()
  })

  test('streams an export, which stays whole even if the user’s state changes meanwhile', async () => {
    const elements = Array.from({ length: 400 }, (_, index) => `"${String(index).repeat(4_000)}"`)
    await gateway.load(anExport(ANA, 3, elements))
    await servers.untilCaughtUp()
    statements.names()
    expect(await read(0, '/exports?r=p')).toBe(`[${elements.join(',')}]`)
    expect(onPrimary()).toEqual(['liveSessions'])
    const response = await fetch(`${gateway.url}/exports?r=p`, { headers: { authorization: `Bearer ${tokens[0]}` } })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    await gateway.load(project(ANA, 9))
    const chunks = [first?.value ?? new Uint8Array()]
    for (let chunk = await reader?.read(); chunk?.value; chunk = await reader?.read()) chunks.push(chunk.value)
    expect(Buffer.concat(chunks).toString()).toBe(`[${elements.join(',')}]`)
  })

  test('never answers a read older than an acknowledged import, while it lags and catches up', async () => {
    const acknowledged = USERS.map(() => 0)
    const tried = USERS.map(() => 0)
    const wrong: string[] = []
    let isOver = false

    async function writer(): Promise<void> {
      while (!isOver) {
        const user = Math.floor(Math.random() * 10)
        const version = (tried[user] ?? 0) + 1
        tried[user] = version
        await gateway.load(
          project(USERS[user] ?? '', version) + anExport(USERS[user] ?? '', version + 1, [`${version}`]),
        )
        acknowledged[user] = version
      }
    }
    async function reader(reads: number): Promise<void> {
      for (let count = 0; count < reads; count += 1) {
        const user = Math.floor(Math.random() * 10)
        const least = acknowledged[user] ?? 0
        const { data } = (
          await gateway.graphql('{ me { projects { version: data } latestExport(ref: "p") { data } } }', {
            accessToken: tokens[user] ?? '',
          })
        ).json()
        const versions = [data.me.projects[0].version.v, least === 0 ? 0 : data.me.latestExport.data[0]]
        const rest = JSON.parse(await read(user))[0].v
        for (const version of [...versions, rest]) {
          if (!(version >= least && version <= (tried[user] ?? 0))) wrong.push(`${user}: ${version} after ${least}`)
        }
      }
    }
    async function disturber(): Promise<void> {
      while (!isOver) {
        await servers.pauseReplay()
        await Promise.all([read(10), read(11)])
        await servers.resumeReplay()
        await servers.untilCaughtUp()
        await Promise.all([read(10), read(11)])
      }
    }
    const disturbing = [disturber(), writer()]
    await Promise.all(Array.from({ length: 8 }, () => reader(60)))
    isOver = true
    await Promise.all(disturbing)
    expect(wrong).toEqual([])
    const asked = { primary: onPrimary().length, standby: onStandby().length }
    expect(asked.standby, JSON.stringify(asked)).toBeGreaterThan(100)
  })

  test('lets a gateway start if it is down, or is no standby although its URL requires one', async () => {
    const { primary, standby } = servers
    const startWith = async (url: string) => {
      const { next: nextChange, onChange } = observeChanges()
      const started = await startGateway({
        databaseUrl: gateway.databaseUrl,
        replica: { url, timeoutMs: 500, onChange },
        cacheBytes: 0,
      })
      const { accessToken } = await started.login(ANA)
      expect((await started.get('/projects', accessToken)).text).toBe('[{"id":"p","v":0}]')
      return { nextChange, read: () => started.get('/projects', accessToken) }
    }
    const ofPrimary = `${gateway.databaseUrl}?target_session_attrs=standby`
    const down = gateway.databaseUrl.replace(`:${primary.port}/`, ':1/')
    for (const url of [ofPrimary, down]) await (await startWith(url)).nextChange(false)
    const ofBoth = ofPrimary.replace(`:${primary.port}`, `:${primary.port},${standby.host}:${standby.port}`)
    const { nextChange, read: readFromBoth } = await startWith(ofBoth)
    await nextChange(true)
    statements.names()
    expect((await readFromBoth()).text).toBe('[{"id":"p","v":0}]')
    expect([onPrimary(), onStandby()]).toEqual([['liveSessions'], ['documentsWithin']])
  })

  // This test is the last one, because a promotion cannot be undone.
  test('is not believed for its own history after it was promoted to a primary', async () => {
    await servers.standby.promote()
    const { standby } = servers
    const url = new URL(gateway.databaseUrl)
    url.port = String(standby.port)
    await execute(url.href, `update workspace_gateway.document set text = '{"id":"p","v":"of another history"}'`)
    expect(await read(0)).toBe('[{"id":"p","v":0}]')
    await gateway.load(project(BEN, 5))
    expect(await read(1)).toBe('[{"id":"p","v":5}]')
  })
})

/** Waits for reported changes, in their order. */
function observeChanges() {
  const told: boolean[] = []
  let wake = (): void => {}
  return {
    onChange(isHealthy: boolean): void {
      told.push(isHealthy)
      wake()
    },
    async next(isHealthy: boolean): Promise<void> {
      for (;;) {
        const change = told.shift()
        if (change === isHealthy) return
        if (change === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    },
  }
}
