// Tests what is logged when requests fail because the database is away: enough to find each, but not a line for each.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createReport } from '../../src/cli/log.ts'
import { GatewayError } from '../../src/errors.ts'
import { StoreFaultError, StoreUnavailableError } from '../../src/store/contract.ts'
import { serveForTest } from '../support/command-line.ts'
import { ask, bearer, postJson } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { logInMemory } from '../support/log-in-memory.ts'
import { execute, POSTGRES_DIRECTORY, POSTGRES_URL, temporaryDatabase, temporaryServer } from '../support/postgres.ts'
import { openSqliteShell } from '../support/sqlite-shell.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

interface Line {
  readonly msg: string
  readonly incident?: string
  readonly requestId?: string
  readonly count?: number
}

const FAILED = 'a request failed'

function failuresIn(log: string): readonly Line[] {
  return jsonLines(log).filter(({ msg }) => msg === FAILED)
}

test.skipIf(POSTGRES_DIRECTORY === null)(
  'when the database is away for 200 requests, the log has each incident, and one line and one stack per cause',
  async () => {
    const server = await temporaryServer()
    const times = ['--connect-timeout', '2500', '--statement-timeout', '1000']
    const { url, stderr } = await serveForTest(['--database', server.url('postgres'), ...times])
    const { accessToken } = (await postJson(`${url}/login`, { email: ANA })).json()
    const query = { query: '{ me { email projects { name } } }' }
    const requests = [
      () => ask(`${url}/readyz`),
      () => ask(`${url}/projects`, { headers: bearer(accessToken) }),
      () => postJson(`${url}/graphql`, query, bearer(accessToken)),
      () => postJson(`${url}/login`, { email: ANA }),
    ]
    await server.crash()
    const before = stderr().length
    const incidents = new Set<string>()
    for (const request of Array.from({ length: 50 }, () => requests).flat()) {
      const answer = await request()
      expect(answer.status).toBe(503)
      const { instance, errors } = answer.json()
      const incident: unknown = instance ?? errors[0].extensions.instance
      expect(incident).toMatch(/^urn:uuid:/)
      incidents.add(String(incident))
    }
    const log = () => stderr().slice(before)
    /** The last line may be incomplete. */
    const whole = () => log().slice(0, log().lastIndexOf('\n'))
    const failures = () => failuresIn(whole())
    await expect
      .poll(() =>
        failures()
          .map(({ incident }) => incident)
          .toSorted(),
      )
      .toEqual([...incidents].toSorted())
    // A lost connection and a connection that cannot be made have different messages, and a minute may have passed.
    expect(incidents.size).toBeLessThan(5)
    // Each background writer logs once that it waits.
    const stacks = jsonLines(whole()).filter((line) => JSON.stringify(line).includes('"stack"'))
    const background = stacks.map(({ msg }) => msg).filter((msg) => msg !== FAILED)
    expect(background).toEqual([...new Set(background)])
    expect(stacks.length - background.length).toBeLessThanOrEqual(incidents.size)
    // The request log has 60 lines a minute.
    expect(log().length).toBeLessThan(30_000)
  },
)

describe.each([
  {
    engine: 'SQLite',
    isThere: true,
    open: async () => `file:${join(temporaryDirectory(), 'workspace.db')}`,
    loseTables: (url: string) => openSqliteShell(new URL(url).pathname).run('drop table user'),
  },
  {
    engine: 'PostgreSQL',
    isThere: POSTGRES_URL !== null,
    open: temporaryDatabase,
    loseTables: (url: string) => execute(url, 'drop schema workspace_gateway cascade'),
  },
])('while the tables are gone on $engine', ({ isThere, open, loseTables }) => {
  test.skipIf(!isThere)('/readyz is 503, and the log says why once a minute', async () => {
    const database = await open()
    const { url, stderr } = await serveForTest(['--database', database])
    await loseTables(database)
    const answers = [await ask(`${url}/readyz`), await ask(`${url}/readyz`), await ask(`${url}/readyz`)]
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    const [incident, ...others] = new Set(answers.map((answer) => answer.json().instance))
    expect(others).toEqual([])
    const lines = () => stderr().match(/^.*"a request failed".*$/gm) ?? []
    await expect.poll(() => lines().filter((line) => line.includes(incident))).toHaveLength(1)
    expect(lines().find((line) => line.includes(incident))).toMatch(/no such table|does not exist/)
  })
})

test('an outage gets a line a minute for each cause, with the number of failures; a bug always gets one', () => {
  let now = 0
  const { log, written } = logInMemory()
  const report = createReport(log, () => now)
  const away = () => new StoreUnavailableError('the database is away')
  const keys = () => new GatewayError('UNAVAILABLE', { cause: new Error('the keys cannot be loaded') })
  const right = () => new StoreFaultError('the role may not do this')
  const bug = new TypeError('a bug')

  const [first, second] = [report(away(), 'request-1'), report(away(), 'request-2')]
  expect(second).toBe(first)
  expect(
    new Set([first, ...[keys(), keys(), right(), right()].map((error) => report(error)), report(bug), report(bug)])
      .size,
  ).toBe(5)
  now = 59_999
  expect(report(away(), 'request-3')).toBe(first)
  now = 60_000
  const later = report(new GatewayError('UNAVAILABLE', { cause: away() }), 'request-4')
  expect(later).not.toBe(first)
  expect(report(away(), 'request-5')).toBe(later)

  expect(failuresIn(written())).toMatchObject([
    { incident: first, requestId: 'request-1', count: 1 },
    { err: { cause: { message: 'the keys cannot be loaded' } }, count: 1 },
    { err: { message: 'the role may not do this' }, count: 1 },
    { err: { message: 'a bug' } },
    { err: { message: 'a bug' } },
    { incident: later, requestId: 'request-4', count: 4 },
  ])
})
