// Tests trace comments in the statement log of PostgreSQL.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRequestScope } from '../../src/admin/tracing/request-scope.ts'
import type { GatewayRequest } from '../../src/http/request.ts'
import { startRecord } from '../../src/http/request-record.ts'
import { withTraceComment } from '../../src/store/postgres/engine/trace-comment.ts'
import { run, runHere, type ServingProcess, serveForTest } from '../support/command-line.ts'
import { execute } from '../support/execute.ts'
import { ask, bearer, openSession, postJson } from '../support/gateway.ts'
import { HAS_PGBOUNCER, startPgbouncer } from '../support/pgbouncer.ts'
import { POSTGRES_DIRECTORY } from '../support/postgres.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { exchange, requestText } from '../support/wire.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'
import { startReceiver } from './otlp-receiver.ts'

const OPTION = '--database-trace-comments'
const SPAN = '00f067aa0ba902b7'
const COMMENT = /\/\*traceparent='00-([0-9a-f]{32})-([0-9a-f]{16})-01'\*\/$/
const PREFIX = '@@'
const LONG = 'long'

interface Executed {
  /** The name of the prepared statement; `<unnamed>` for one that is used once. */
  readonly name: string
  readonly text: string
  /** What the comment of the statement contains. */
  readonly traceId: string | null
  readonly spanId: string | null
}

const traceOf = (digit: number) => `4bf92f3577b34da6a3ce929d0e0e473${digit}`
const parent = (traceId: string, flags = '01') => ({ traceparent: `00-${traceId}-${SPAN}-${flags}` })

describe.skipIf(POSTGRES_DIRECTORY === null)('PostgreSQL statements', () => {
  let server: PostgresServer
  let databaseUrl: string
  /** Where the log of the current test begins. */
  let read = 0
  beforeAll(async () => {
    server = await startPostgres(
      { directory: POSTGRES_DIRECTORY ?? '' },
      { settings: { log_statement: 'all', log_line_prefix: PREFIX } },
    )
    await execute(server.url('postgres'), 'create database traced')
    databaseUrl = server.url('traced')
    const element = JSON.stringify('x'.repeat(100_000))
    const long = Array.from({ length: 20 }, () => element)
    const stdin =
      SMALL_WORLD +
      documentLine('project', ANA, `{"id":"${LONG}"}`) +
      exportLine(ANA, { r: LONG, createdAt: '2026-01-01T00:00:00Z', elements: long })
    expect(await runHere(['import', '-', '--database', databaseUrl], { stdin })).toMatchObject({ exitCode: 0 })
  })
  afterAll(() => server[Symbol.asyncDispose]())
  beforeEach(() => {
    read = server.log().length
  })

  function executed(): readonly Executed[] {
    return server
      .log()
      .slice(read)
      .split(PREFIX)
      .flatMap((entry) => {
        // A statement without a name and without parameters is logged as `statement`.
        const [, name = '<unnamed>', text] = /^LOG: {2}(?:statement|execute ([^:]+)): ([\s\S]+?)\s*$/.exec(entry) ?? []
        if (text === undefined) return []
        const [, traceId = null, spanId = null] = COMMENT.exec(text) ?? []
        return [{ name, text, traceId, spanId }]
      })
  }

  async function startTraced(args: readonly string[] = [OPTION], database = databaseUrl) {
    const receiver = await startReceiver()
    const serving = await serveForTest(['--database', database, ...args], {
      cwd: temporaryDirectory(),
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_BSP_SCHEDULE_DELAY: '50',
        OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      },
    })
    const { accessToken } = await openSession(serving.url, ANA)
    const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
      ask(`${serving.url}${path}`, { headers: { ...bearer(accessToken), ...headers } })
    const graphql = (query: string, headers: Readonly<Record<string, string>>) =>
      postJson(`${serving.url}/graphql`, { query }, { ...bearer(accessToken), ...headers })
    return { receiver, serving, accessToken, get, graphql }
  }

  async function end(serving: ServingProcess): Promise<void> {
    expect(await serving.kill('SIGTERM')).toBe(0)
  }

  test('carry the trace and the span of their request, reads and writes, to the last page of a stream', async () => {
    const { receiver, serving, get, graphql } = await startTraced()
    await graphql('{ me { projects { documentId } } }', parent(traceOf(1)))
    const long = await get(`/exports?r=${LONG}`, parent(traceOf(2)))
    expect(long.text.length).toBeGreaterThan(2_000_000)
    await postJson(`${serving.url}/login`, { email: ANA }, parent(traceOf(3)))
    await end(serving)
    const statements = executed()
    for (const [digit, parts] of [
      [1, ['workspace_gateway.session', 'workspace_gateway.document']],
      [2, ['workspace_gateway.session', 'workspace_gateway.export', 'workspace_gateway.export_element']],
      [3, ['insert into workspace_gateway.session']],
    ] as const) {
      const own = statements.filter(({ traceId }) => traceId === traceOf(digit))
      for (const part of parts) expect(own.map(({ text }) => text).join('\n')).toContain(part)
      const span = receiver.spans().find(({ traceId, kind }) => traceId === traceOf(digit) && kind === 2)
      expect(span?.parentSpanId).toBe(SPAN)
      expect(new Set(own.map(({ spanId }) => spanId))).toEqual(new Set([span?.spanId]))
      expect(new Set(own.map(({ name }) => name))).toEqual(new Set(['<unnamed>']))
    }
    const pages = statements.filter(({ text }) => text.includes('string_agg'))
    expect(pages.length).toBeGreaterThan(5)
    expect(new Set(pages.map(({ traceId }) => traceId))).toEqual(new Set([traceOf(2)]))
  })

  test('of untraced requests have no comment and stay prepared, also behind a traced request', async () => {
    const { serving, accessToken, get } = await startTraced()
    await get('/projects')
    await get('/templates', parent(traceOf(1), '00'))
    expect(executed().filter(({ traceId }) => traceId !== null)).toEqual([])
    expect(executed().map(({ name }) => name)).toContain('liveSessions')
    read = server.log().length
    // More than a connection may have in flight: the end of a traced request starts the ones that follow.
    const traced = requestText({ target: '/readyz', headers: [['traceparent', `00-${traceOf(1)}-${SPAN}-01`]] })
    const headers = { Authorization: `Bearer ${accessToken}`, ...parent(traceOf(2), '00'), Connection: 'close' }
    const untraced = requestText({ target: '/exports?r=app', headers: Object.entries(headers) })
    await exchange(serving.url, traced.repeat(40) + untraced)
    await end(serving)
    const found = executed()
    expect(found.flatMap(({ traceId }) => traceId ?? [])).toContain(traceOf(1))
    const own = found.filter(({ text }) => /workspace_gateway\.(?:session|export)/.test(text))
    expect(own.map(({ name, traceId }) => `${name} ${traceId}`)).toContain('liveSessions null')
    expect(new Set(own.map(({ traceId }) => traceId))).toEqual(new Set([null]))
  })

  test('that answer several requests carry a trace and a span that belong together', async () => {
    const { receiver, serving, get } = await startTraced()
    const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(digits.map((digit) => get(`/exports?r=site&n=${round}`, parent(traceOf(digit)))))
    }
    await end(serving)
    const spans = new Map(receiver.spans().map(({ spanId, traceId }) => [spanId, traceId]))
    const statements = executed().filter(({ text }) => text.includes('workspace_gateway.'))
    expect(statements.filter(({ traceId }) => traceId !== null).length).toBeGreaterThan(10)
    for (const { traceId, spanId } of statements) {
      if (traceId !== null) expect(spans.get(spanId ?? '')).toBe(traceId)
    }
  })

  test('contain nothing that a client sent except the digits of its trace', async () => {
    const { serving, get } = await startTraced()
    for (const traceparent of [
      `00-${traceOf(1)}-${SPAN}-01'*/; select 'hunter2'; /*`,
      `01-${traceOf(2)}-${SPAN}-01-'*/ select 'hunter2' /*`,
      `00-'*/select'hunter2'/*aaaaaaaaaaaaa-${SPAN}-01`,
    ]) {
      expect((await get('/projects', { traceparent, tracestate: `a=hunter2'*/` })).status).toBe(200)
    }
    await end(serving)
    expect(server.log().slice(read)).not.toContain('hunter2')
    // This is the trace of the second header, which a later version of the standard may send.
    expect(executed().flatMap(({ traceId }) => traceId ?? [])).toContain(traceOf(2))
    for (const { text } of executed()) expect(text.replace(COMMENT, '')).not.toMatch(/\/\*|--/)
  })

  test('have no comment without the option', async () => {
    const { receiver, serving, get } = await startTraced([])
    await get('/projects', parent(traceOf(1)))
    await end(serving)
    expect(receiver.spans().map(({ traceId }) => traceId)).toContain(traceOf(1))
    expect(server.log().slice(read)).not.toContain('traceparent')
    expect(executed().map(({ name }) => name)).toContain('liveSessions')
  })

  test.skipIf(!HAS_PGBOUNCER)('carry the trace behind PgBouncer in transaction mode too', async () => {
    await using pooler = await startPgbouncer(databaseUrl, { connections: 2 })
    const { serving, get } = await startTraced([OPTION], pooler.through(databaseUrl))
    const answers = await Promise.all(
      [1, 2, 3].map((digit) => get(`/exports?r=site&n=${digit}`, parent(traceOf(digit)))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    await end(serving)
    expect(executed().map(({ traceId }) => traceId)).toContain(traceOf(1))
  })

  test('have no trace without a receiver, as the log says', async () => {
    const serving = await serveForTest(['--database', databaseUrl, OPTION], { cwd: temporaryDirectory() })
    expect(serving.stderr()).toContain('set OTEL_EXPORTER_OTLP_ENDPOINT')
    await serving.kill('SIGTERM')
  })
})

test('work that continues after its request was answered has no trace', () => {
  const { run: runFor, statements } = createRequestScope()
  const record = { ...startRecord(0), traceId: traceOf(1), spanId: SPAN }
  const seen: (string | null)[] = []
  let later = () => {}
  runFor({ record } as GatewayRequest, () => {
    later = statements.bind(() => seen.push(statements.current()))
    later()
  })
  later()
  record.status = 200
  later()
  expect([...seen, statements.current()]).toEqual([
    `00-${traceOf(1)}-${SPAN}-01`,
    `00-${traceOf(1)}-${SPAN}-01`,
    null,
    null,
  ])
})

test('SQLite refuses the option in one sentence', async () => {
  const { exitCode, stderr } = await run(['serve', '--port', '0', OPTION], { cwd: temporaryDirectory() })
  expect([exitCode, stderr.trim().split('\n').length]).toEqual([2, 1])
  expect(stderr).toContain('--database-trace-comments: SQLite has no log of statements')
})

test.each([
  "00-' or 1=1-x-01",
  '',
  `00-${'4BF92F3577B34DA6A3CE929D0E0E4736'}-${SPAN}-01`,
  `00-${traceOf(1)}-${SPAN}-01*/`,
])('an invalid traceparent leaves the statement unchanged: %s', (traceparent) => {
  expect(withTraceComment('select 1', traceparent)).toBe('select 1')
  expect(withTraceComment('select 1', `00-${traceOf(1)}-${SPAN}-01`)).toBe(
    `select 1 /*traceparent='00-${traceOf(1)}-${SPAN}-01'*/`,
  )
})
