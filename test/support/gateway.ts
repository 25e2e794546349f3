// Starts a gateway in the process of the test: everything is real except the clock, which the test moves.
import { once } from 'node:events'
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type AuditLog, openAuditLog } from '../../src/auth/audit/audit-log.ts'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import { createKeyCipher } from '../../src/auth/tokens/key-cipher.ts'
import { createReport } from '../../src/cli/log.ts'
import { describeEntry } from '../../src/cli/open-audit.ts'
import { GRAPHQL_OPTIONS, toGraphQLOptions } from '../../src/cli/options/graphql-options.ts'
import { IMPORT_OPTIONS } from '../../src/cli/options/import-options.ts'
import { parseOptions } from '../../src/cli/options/option.ts'
import { createGateway, type GatewayOptions } from '../../src/gateway.ts'
import { corsOfRefusals } from '../../src/http/cors.ts'
import type { ObserveResponse } from '../../src/http/handler.ts'
import { createAccepting } from '../../src/http/limits/accepting.ts'
import type { BrokenOff } from '../../src/http/server/broken-off.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { checkInput } from '../../src/import-export/checks/validate.ts'
import { loadInput } from '../../src/import-export/load.ts'
import { redact } from '../../src/redact.ts'
import type { NewAuditEntry } from '../../src/store/audit-contract.ts'
import type { Store } from '../../src/store/contract.ts'
import { openStore, type StoreOptions } from '../../src/store/open-store.ts'
import { logInMemory } from './log-in-memory.ts'
import { searchLog } from './searched-logs.ts'
import { serverOptions } from './server-options.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export interface TestGateway {
  readonly url: string
  readonly store: Store
  readonly databasePath: string
  readonly databaseUrl: string
  readonly audit: AuditLog
  /** Errors that were reported to the log, which a client must not see. */
  readonly reported: unknown[]
  /** Responses that ended before they were complete. */
  readonly brokenOff: readonly BrokenOff[]
  /** Milliseconds since the epoch; only `advance` moves it. */
  readonly now: () => number
  readonly advance: (seconds: number) => void
  /** Imports NDJSON text. */
  readonly load: (ndjson: string) => Promise<void>
  readonly login: (email: string) => Promise<Tokens>
  readonly get: (path: string, accessToken?: string, headers?: Record<string, string>) => Promise<Answer>
  readonly send: (
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers?: Record<string, string>,
  ) => Promise<Answer>
  readonly graphql: (
    query: string,
    options?: { accessToken?: string; variables?: object; operationName?: string; headers?: Record<string, string> },
  ) => Promise<Answer>
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Untyped: the test says what the answer must be. */
  readonly json: () => ReturnType<typeof JSON.parse>
}

export interface TestGatewayOptions extends Partial<GatewayOptions> {
  readonly bodyLimitBytes?: number
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string
  readonly trustedProxies?: readonly string[]
  readonly proxyProtocol?: boolean
  /** GraphQL options as they are written on the command line. */
  readonly graphqlValues?: Readonly<Record<string, string | boolean>>
  readonly sessionCheckMs?: number
  readonly sendTimeoutMs?: number
  readonly observers?: readonly ObserveResponse[]
  readonly databasePath?: string
  /** Replaces the SQLite file at `databasePath`. */
  readonly databaseUrl?: string
  readonly replica?: StoreOptions['replica']
  readonly wrapStore?: (store: Store) => Store
}

const JSON_BODY = { 'content-type': 'application/json' }

export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const databasePath = options.databasePath ?? join(temporaryDirectory(), 'workspace.db')
  const databaseUrl = options.databaseUrl ?? `file:${databasePath}`
  const store = await openStore(databaseUrl, {
    lockTimeoutMs: 5_000,
    connectTimeoutMs: 3_000,
    statementTimeoutMs: 3_000,
    poolSize: 10,
    replica: options.replica,
    onFatal(error) {
      throw error
    },
  })
  const reported: unknown[] = []
  const log = createTestLog()
  let now = Date.UTC(2026, 0, 1)
  const clock = () => now
  const defaults = serverOptions()
  const { bodyLimitBytes = defaults.bodyLimitBytes, inFlight = defaults.inFlight } = options
  const { sendTimeoutMs = defaults.sendTimeoutMs } = options
  const audit = await openAuditLog(store, {
    retentionMs: 400 * 86_400_000,
    areEmailsClear: false,
    clock,
    onEntry: (entry) => log.entry(entry),
    onFailure() {},
  })
  const accepting = createAccepting({ now: () => performance.now(), nextTurn: setImmediate })
  const running = new AsyncDisposableStack()
  const handle = await createGateway(options.wrapStore?.(store) ?? store, {
    createGuard: guardsOf(['local'], { trustedOrigins: [] }),
    basePath: '',
    corsOrigins: [],
    reportRefusedOrigin() {},
    issuer: 'test-issuer',
    audience: 'test-audience',
    accessTokenTtlSeconds: 900,
    tokenAlgorithm: null,
    keyCipher: createKeyCipher([]),
    onUnreadableKey: (error) => reported.push(error),
    refreshIdleTtlSeconds: 14 * 86_400,
    refreshAbsoluteTtlSeconds: 90 * 86_400,
    sessionsPerUser: 100_000,
    sessionCheckMs: options.sessionCheckMs ?? null,
    audit,
    attemptsPerMinute: 0,
    cacheBytes: 1_048_576,
    graphql: toGraphQLOptions(parseOptions(GRAPHQL_OPTIONS, { traceHeader: true, ...options.graphqlValues }), 'local'),
    inFlight,
    accepting,
    // The clients of a test run in the same process: a busy test must not count as overload.
    maxQueueDelayMs: 60_000,
    demoEmail: null,
    examples: {},
    clock,
    report(error) {
      reported.push(error)
      return log.report(error)
    },
    isDraining: () => false,
    reportBackground(error, what) {
      reported.push(error)
      log.background(error, what)
    },
    running,
    ...options,
  })
  const brokenOff: BrokenOff[] = []
  const server = createHttpServer(handle, {
    bodyLimitBytes,
    inFlight,
    accepting,
    trustedProxies: options.trustedProxies ?? [],
    proxyProtocol: options.proxyProtocol ?? false,
    sendTimeoutMs,
    observers: options.observers ?? [],
    refusalHeaders: corsOfRefusals(options.corsOrigins ?? []),
    reportBrokenOff: (event) => brokenOff.push(event),
  })
  const host = options.host ?? '127.0.0.1'
  server.listen(0, host)
  await once(server, 'listening')
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await running.disposeAsync()
    await audit[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })

  const send: TestGateway['send'] = (method, path, body, headers = JSON_BODY) =>
    ask(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) })

  return {
    url,
    store,
    databasePath,
    databaseUrl,
    audit,
    reported,
    brokenOff,
    now: clock,
    advance(seconds) {
      now += seconds * 1_000
    },
    async load(ndjson) {
      await using input = await openText(join(temporaryDirectory(), 'input.ndjson'), ndjson)
      const fields = parseOptions(IMPORT_OPTIONS, {})
      const checked = await checkInput(input.file, fields, store, () => {})
      if (checked.bad.size > 0) throw new Error(`bad input: ${JSON.stringify(checked.bad.first)}`)
      await loadInput(input.file, checked, store, { fields, clock, onProgress() {}, async onRejected() {} })
    },
    login: (email) => openSession(url, email),
    get: (path, accessToken, headers = {}) => ask(`${url}${path}`, { headers: { ...bearer(accessToken), ...headers } }),
    send,
    graphql: (query, { accessToken, variables, operationName, headers = {} } = {}) =>
      postJson(`${url}/graphql`, { query, variables, operationName }, { ...bearer(accessToken), ...headers }),
  }
}

/** Writes what `serve` would write, so that it can be searched for secrets. */
function createTestLog() {
  const { log, written } = logInMemory()
  searchLog(written)
  return {
    report: createReport(log, () => performance.now()),
    background: (error: unknown, what: string) => log.warn({ err: error }, what),
    entry: (entry: NewAuditEntry) => log.info({ audit: describeEntry({ ...entry, who: redact(entry.who) }) }, 'audit'),
  }
}

export function bearer(accessToken: string | undefined): Record<string, string> {
  return accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
}

export function postJson(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return ask(url, { method: 'POST', headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) })
}

/** Logs in at a gateway of any process that accepts every email. Throws if it does not. */
export async function openSession(url: string, email: string): Promise<Tokens> {
  const answer = await postJson(`${url}/login`, { email })
  if (answer.status !== 200) throw new Error(`login failed: ${answer.text}`)
  return answer.json()
}

async function openText(path: string, text: string): Promise<AsyncDisposable & { readonly file: FileHandle }> {
  await writeFile(path, text)
  const file = await open(path)
  return { file, [Symbol.asyncDispose]: () => file.close() }
}
