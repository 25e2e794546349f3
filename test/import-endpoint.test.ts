// POST /import: who may import, how imports end, the audit log, and `import --to`, the client of the endpoint.
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import SqliteDatabase from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createClientSecret } from '../src/auth/guards/client/client-secret.ts'
import { createProcessMetrics } from '../src/cli/sight/metrics.ts'
import { createInFlightBytes } from '../src/http/limits/in-flight-bytes.ts'
import { isOutcome } from '../src/import-export/run-import.ts'
import { StoreFullError } from '../src/store/contract.ts'
import { LAST_DOCUMENT_POSITION } from '../src/store/reads-contract.ts'
import { nginxFrame } from './guards/proxies/configurations.ts'
import { runHere, serveForTest, serveHereForTest } from './support/command-line.ts'
import { freePort } from './support/free-port.ts'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { createWorkspace, templateLines } from './support/import-workspace.ts'
import {
  IMPORT_BEARER as BEARER,
  importerOf,
  startImporting,
  IMPORT_TOKEN as TOKEN,
} from './support/importing-gateway.ts'
import { jsonLines } from './support/json-lines.ts'
import { startPlainServer } from './support/plain-server.ts'
import { createdDatabases, POSTGRES_URL } from './support/postgres.ts'
import { isInstalled, startProxy } from './support/proxy-process.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { openSocket, requestText } from './support/wire.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from './support/workspaces.ts'

const MIB = 1_048_576
const MINUTE_MS = 60_000
const hasCurl = ['curl', 'sh'].every((program) => spawnSync(program, ['--help']).error === undefined)
if (!hasCurl) console.warn('skipped: the curl command of the guide needs curl and sh')

async function dumpOf(gateway: TestGateway): Promise<string> {
  return (await runHere(['dump', '--database', gateway.databaseUrl])).stdout
}

/** Without the progress, which an import on a slow machine repeats at any time. */
function eventsOf(text: string) {
  const events = jsonLines(text)
  expect(isOutcome(events.at(-1))).toBe(true)
  return events.filter(({ type }) => type !== 'progress')
}

test('POST /import answers with the outcome on the last line, even when a heartbeat is due while the thread ends', async () => {
  const gateway = await startImporting(undefined, { ping: () => void vi.advanceTimersByTime(MINUTE_MS) })
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const { text } = await gateway.send('POST', '/import', SMALL_WORLD, BEARER)
    expect(eventsOf(text).at(-1).type).toBe('imported')
  } finally {
    vi.useRealTimers()
  }
})

describe('on SQLite', () => describeImporting(async () => undefined))

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => describeImporting(createdDatabases()))

function describeImporting(databaseUrl: () => Promise<string | undefined>): void {
  test('POST /import imports like the command import and reports the outcome in events', async () => {
    const gateway = await startImporting(await databaseUrl())
    const local = createWorkspace()
    await local.load(SMALL_WORLD)
    const first = await gateway.send('POST', '/import', SMALL_WORLD, BEARER)
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(eventsOf(first.text).at(-1)).toEqual({
      type: 'imported',
      added: 8,
      replaced: 0,
      unchanged: 0,
      removed: 0,
      orphanExports: 0,
      orphans: [],
    })
    expect(await dumpOf(gateway)).toBe(await local.dump())

    const { accessToken } = await gateway.login(ANA)
    const wanted = documentLine('project', ANA, '{"id":"p2","ref":"app","name":"only this"}')
    const dry = await gateway.send('POST', '/import?replace&dry-run&verbose', wanted, BEARER)
    expect(eventsOf(dry.text).slice(-2)).toEqual([
      { type: 'user', email: ANA, added: 0, replaced: 1, unchanged: 0, removed: 5 },
      { type: 'wouldImport', added: 0, replaced: 1, unchanged: 0, removed: 5, orphanExports: 0, orphans: [] },
    ])
    expect(await dumpOf(gateway)).toBe(await local.dump())
    await gateway.send('POST', '/import?replace=true', wanted, BEARER)
    expect((await gateway.get('/projects', accessToken)).json()).toEqual([{ id: 'p2', ref: 'app', name: 'only this' }])
    expect(await dumpOf(gateway)).toContain(BEN)

    const bad = await gateway.send(
      'POST',
      '/import',
      `${documentLine('template', ANA, '{"id":1}')}{"kind":"user"}\n`,
      BEARER,
    )
    expect(eventsOf(bad.text).slice(-2)).toEqual([
      { type: 'badLine', line: 2, reason: '"email" must be a string that is not empty' },
      { type: 'refused', badLines: 1 },
    ])
    expect(await dumpOf(gateway)).not.toContain('"template","email":"ana')
    expect(gateway.reported).toEqual([])
  })
}

test('POST /import refuses missing and wrong credentials and wrong parameters, and imports nothing', async () => {
  const gateway = await startImporting()
  const { accessToken } = await gateway.login(ANA)
  const cases = [
    [{}, 'UNAUTHENTICATED'],
    [{ authorization: `Bearer ${accessToken}` }, 'INVALID_TOKEN'],
    [{ authorization: `Bearer ${TOKEN}x` }, 'INVALID_TOKEN'],
    [{ authorization: `Bearer ${TOKEN.slice(1)}` }, 'INVALID_TOKEN'],
    [{ authorization: `Basic ${btoa(TOKEN)}` }, 'INVALID_TOKEN'],
    [{ authorization: `Basic ${btoa('no-colon')}` }, 'UNAUTHENTICATED'],
    [{ authorization: 'Bearer ' }, 'INVALID_TOKEN'],
  ] as const
  for (const [headers, code] of cases) {
    const { status, text, json } = await gateway.send('POST', '/import', SMALL_WORLD, headers)
    expect([status, json().code]).toEqual([401, code])
    expect(text).not.toContain(TOKEN.slice(0, 12))
  }
  expect(await dumpOf(gateway)).toBe('')
  expect((await gateway.get('/import', TOKEN)).status).toBe(405)
  for (const [search, detail] of [
    ['replace=0', 'replace must have no value, or be true or false.'],
    ['replace&verbose=maybe', 'verbose must have no value, or be true or false.'],
    ['dry-run', 'dry-run and verbose need replace.'],
    ['id-fields=a,', 'id-fields must be names of members, separated by commas.'],
    ['replace&dry-run&dry-run=false', 'dry-run is given twice.'],
    ['other=a', 'Known parameters are replace, dry-run, verbose, id-fields and ref-fields.'],
  ]) {
    const { status, json } = await gateway.send('POST', `/import?${search}`, '', BEARER)
    expect([status, json().code, json().detail], search).toEqual([400, 'INVALID_ARGUMENT', detail])
  }
  const other = await startGateway()
  expect((await other.send('POST', '/import', SMALL_WORLD, BEARER)).status).toBe(404)
})

test('POST /import refuses a compressed body and one in UTF-16 as such, and takes the next import', async () => {
  const gateway = await startImporting()
  for (const body of [gzipSync(SMALL_WORLD), Buffer.from(`\ufeff${SMALL_WORLD}`, 'utf16le')]) {
    const { status, json } = await gateway.send('POST', '/import', body, BEARER)
    expect([status, json().code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    expect(json().detail).toBe('Send the body as UTF-8, not compressed.')
  }
  const { text } = await gateway.send('POST', '/import', SMALL_WORLD, BEARER)
  expect(eventsOf(text).at(-1).type).toBe('imported')
})

test('a second import is refused while one is running, and accepted after the first one breaks off', async () => {
  const gateway = await startImporting()
  const { port } = new URL(gateway.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    `POST /import HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: 100000\r\nexpect: 100-continue\r\n\r\n`,
  )
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toContain('100 Continue')
  const { status, headers } = await gateway.send('POST', '/import', SMALL_WORLD, BEARER)
  expect([status, headers.get('retry-after')]).toEqual([503, '10'])
  const workspace = createWorkspace()
  const [path, token] = [workspace.write('world.ndjson', SMALL_WORLD), workspace.write('token', TOKEN)]
  expect(await runHere(['import', path, '--to', gateway.url, '--token-file', token])).toMatchObject({
    exitCode: 1,
    stderr: `${gateway.url} answered 503: Another import is running: run the import again\n`,
  })
  socket.destroy()
  await expect.poll(async () => (await gateway.send('POST', '/import', SMALL_WORLD, BEARER)).status).toBe(200)
  expect(await dumpOf(gateway)).toContain('ben.txt')
})

test('an import without memory for its answer is broken off and makes room for the next one', async () => {
  const inFlight = createInFlightBytes(MIB)
  const gateway = await startImporting(undefined, { inFlight })
  const others = inFlight.open()
  others.require(MIB)
  const refused = await gateway.send('POST', '/import', SMALL_WORLD, BEARER)
  expect([refused.status, refused.json().detail]).toEqual([503, expect.stringContaining('no memory left')])
  others[Symbol.dispose]()
  await expect.poll(async () => (await gateway.send('POST', '/import', SMALL_WORLD, BEARER)).status).toBe(200)
  await gateway.audit.flush()
  const everything = { from: null, to: null, who: null, kind: 'import' } as const
  const told = await gateway.store.auditEntries(everything, 0, 100)
  expect(told.map(({ result }) => result)).toEqual(['failed', 'done'])
  expect(gateway.reported).toEqual([])
})

test('an import while the database is away tells its client to run it again, and the log why it failed', async () => {
  const reported: unknown[] = []
  const away = `postgres://nobody@127.0.0.1:${await freePort('127.0.0.1')}/none`
  const importer = importerOf(away, undefined, (error) => reported.push(error))
  const gateway = await startGateway({ importing: { token: TOKEN, importer } })
  const { text } = await gateway.send('POST', '/import', SMALL_WORLD, BEARER)
  const message = 'the database cannot be used right now: run the import again'
  expect(eventsOf(text)).toEqual([{ type: 'failed', message }])
  expect(reported).toMatchObject([{ message: expect.stringMatching(/can be reached: .*ECONNREFUSED/) }])
})

test('an import that is stored counts as imported, even if the disk of the database is full by then', async () => {
  const ping = () => {
    throw new StoreFullError()
  }
  const gateway = await startImporting(undefined, { ping })
  const { text } = await gateway.send('POST', '/import', SMALL_WORLD, BEARER)
  expect(eventsOf(text).at(-1)).toMatchObject({ type: 'imported', added: 8 })
  expect(await dumpOf(gateway)).toContain(BEN)
})

test('the thread of a broken-off import ends by itself, and a later import succeeds', async () => {
  const exitCodes: number[] = []
  const onWorker = (worker: Worker) => worker.once('exit', (exitCode) => exitCodes.push(exitCode))
  process.on('worker', onWorker)
  onTestFinished(() => {
    process.off('worker', onWorker)
  })
  const gateway = await startImporting()
  const leaving = new AbortController()
  const request = { method: 'POST', headers: BEARER, body: templateLines(0, 100_000).join(''), signal: leaving.signal }
  const answer = await fetch(`${gateway.url}/import`, request)
  await answer.body?.getReader().read()
  leaving.abort()
  await expect.poll(async () => (await gateway.send('POST', '/import', SMALL_WORLD, BEARER)).status).toBe(200)
  // A terminated thread exits with 1. Terminating a thread that is loading the SQLite driver aborts the whole process.
  await expect.poll(() => exitCodes).toEqual([0, 0])
  expect(await dumpOf(gateway)).not.toContain('{"id":99999,')
})

test('a request with a wrong token is answered 401 without waiting for its body', async () => {
  const gateway = await startImporting()
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  socket.write(
    `POST /import HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}x\r\ncontent-length: 100000\r\nexpect: 100-continue\r\n\r\n`,
  )
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

test('a registered client imports only with the scope "import" for all domains; any other client is refused', async () => {
  const gateway = await startImporting()
  const basicOf = async (name: string, scopes: readonly string[], domains = ['*']) => {
    const { secret, secretHash } = createClientSecret()
    await gateway.store.addClient({ name, secretHash, domains, scopes, perMinute: 1, createdAt: 0 })
    return `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`
  }
  const [mover, backEnd] = [await basicOf('mover', ['import']), await basicOf('back-end', ['login'])]
  const answerOf = async (authorization: string) =>
    (await gateway.send('POST', '/import', SMALL_WORLD, { authorization })).status
  expect(await answerOf(backEnd)).toBe(403)
  expect(await answerOf(await basicOf('of-one-domain', ['import'], ['example.com']))).toBe(403)
  expect(await answerOf(mover.slice(0, -8))).toBe(401)
  expect(await answerOf(`Basic ${Buffer.from('nobody:wgs_').toString('base64')}`)).toBe(401)
  expect(await dumpOf(gateway)).toBe('')
  expect(await answerOf(mover)).toBe(200)
  expect(await dumpOf(gateway)).toContain('ben.txt')
})

test('the audit log records who imported how much, refusals and broken-off imports, but no email and no secret', async () => {
  const gateway = await startImporting()
  const { secret, secretHash } = createClientSecret()
  const client = { name: 'mover', secretHash, domains: ['*'], scopes: ['import'], perMinute: 1, createdAt: 0 }
  await gateway.store.addClient(client)
  const authorization = `Basic ${Buffer.from(`mover:${secret}`).toString('base64')}`
  await gateway.send('POST', '/import', SMALL_WORLD, { authorization })
  await gateway.send('POST', '/import?replace&dry-run', SMALL_WORLD, { authorization })
  await gateway.send('POST', '/import', '{"kind":"user"}\n', BEARER)
  await gateway.send('POST', '/import', SMALL_WORLD, { authorization: `Bearer ${TOKEN}x` })
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  socket.write(
    `POST /import HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: 100000\r\nexpect: 100-continue\r\n\r\n`,
  )
  await once(socket, 'data')
  socket.destroy()
  const everything = { from: null, to: null, who: null, kind: 'import' } as const
  const entries = async () => {
    await gateway.audit.flush()
    return gateway.store.auditEntries(everything, 0, 100)
  }
  await expect.poll(async () => (await entries()).length).toBe(4)
  const told = (await entries()).map(({ kind, result, who, network, detail }) => [kind, result, who, network, detail])
  const from = ['', '127.0.0.0/24']
  expect(told).toEqual([
    ['import', 'done', ...from, 'by client mover: 8 added, 0 replaced, 0 unchanged'],
    ['import', 'refused', ...from, 'by the import token: 1 bad, nothing imported'],
    ['import', 'refused', ...from, 'INVALID_TOKEN'],
    ['import', 'failed', ...from, 'by the import token: broken off'],
  ])
  for (const secretText of [secret, TOKEN, ANA, BEN, 'ana']) expect(JSON.stringify(told)).not.toContain(secretText)
})

test('the audit log records an import that a stopping gateway broke off', async () => {
  const workspace = createWorkspace()
  const tokenFile = workspace.write('token', TOKEN)
  const flags = [...workspace.flags, '--import-token-file', tokenFile, '--shutdown-grace', '0']
  const serving = await serveHereForTest(flags)
  const body = templateLines(0, 100_000).join('')
  const response = await fetch(`${serving.url}/import`, { method: 'POST', headers: BEARER, body })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let told = ''; !told.includes('"importing"'); ) told += (await reader?.read())?.value ?? ''
  expect(await serving.kill('SIGTERM')).toBe(0)
  const told = (await workspace.run('audit', '--kind', 'import')).stdout.trimEnd().split('\n')
  expect(told.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      result: 'failed',
      detail: expect.stringMatching(/^by the import token: broken off at record [1-9]\d*, importing$/),
    }),
  ])
})

test('the audit log and the metrics record a committed import as done, even if its client has left', async () => {
  // Between the commit and the last line, the gateway pings its store to learn whether it can trust the outcome.
  const ping = async () => {
    leaving.resetAndDestroy()
    await expect.poll(() => gateway.brokenOff.length).toBe(1)
  }
  const inFlight = createInFlightBytes(MIB)
  const { store } = await startGateway()
  const watched = { store, inFlight, maxInFlightBytes: MIB, version: '1.0.0', clock: Date.now }
  const { imported: counted, collect } = await createProcessMetrics(true, '', watched, [])
  const gateway = await startImporting(undefined, { ping, counted, inFlight })
  const leaving = await openSocket(gateway.url)
  const headers = Object.entries(BEARER)
  const body = documentLine('project', ANA, '{"id":"p1"}')
  leaving.write(requestText({ method: 'POST', target: '/import?replace', headers, body }))
  const everything = { from: null, to: null, who: null, kind: 'import' } as const
  const entries = async () => {
    await gateway.audit.flush()
    return gateway.store.auditEntries(everything, 0, 100)
  }
  await expect.poll(async () => (await entries()).length).toBe(1)
  expect(await entries()).toMatchObject([
    { result: 'done', detail: 'by the import token: 1 added, 0 replaced, 0 unchanged, 0 removed' },
  ])
  const imports = (await collect?.())?.find(({ name }) => name === 'workspace_gateway_imports_total')
  expect(imports?.values.filter(({ value }) => value > 0)).toEqual([{ value: 1, labels: { result: 'imported' } }])
})

test('a gateway with registered clients imports for one with the scope "import", without an import token', async () => {
  const workspace = createWorkspace()
  await workspace.load(documentLine('project', BEN, '{"id":"p"}'))
  const added = await workspace.run('clients', 'add', 'mover', '--email-domains', '*', '--scopes', 'import')
  const credentials = workspace.write('credentials', added.stdout)
  const serving = await serveHereForTest([...workspace.flags, '--login-guard', 'client'])
  const path = workspace.write('world.ndjson', SMALL_WORLD)
  const there = ['--to', serving.url, '--token-file', credentials]
  expect(await runHere(['import', path, ...there])).toMatchObject({ exitCode: 0, stderr: '' })
  await workspace.run('clients', 'remove', 'mover')
  const refused = await runHere(['import', path, ...there])
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('answered 401')])
})

test('import --to tells what a gateway needs that accepts no imports', async () => {
  const workspace = createWorkspace()
  const [path, token] = [workspace.write('world.ndjson', SMALL_WORLD), workspace.write('token', TOKEN)]
  const { url } = await serveHereForTest(workspace.flags)
  expect(await runHere(['import', path, '--to', url, '--token-file', token])).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `${url} answered 404: start the gateway with --import-token-file, or with the login guard client, and give its address with the base path\n`,
  })
})

test('a gateway whose working directory was removed still imports', async () => {
  const [folder, cwd] = [temporaryDirectory(), temporaryDirectory()]
  const token = join(folder, 'token')
  writeFileSync(token, TOKEN)
  const database = `file:${join(folder, 'workspace.db')}`
  const gateway = await serveForTest(['--database', database, '--import-token-file', token], { cwd })
  rmSync(cwd, { recursive: true })
  const body = SMALL_WORLD
  const answer = await fetch(`${gateway.url}/import`, { method: 'POST', body, headers: BEARER })
  expect(eventsOf(await answer.text()).at(-1)).toMatchObject({ type: 'imported', added: 8 })
})

test('import --to imports through POST /import, and neither side leaves temporary files behind', async () => {
  const workspace = createWorkspace()
  const tokenFile = workspace.write('token', `${TOKEN}\n`)
  const [env, ownTemporary] = [{ TMPDIR: temporaryDirectory() }, temporaryDirectory()]
  vi.stubEnv('TMPDIR', ownTemporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const serving = await serveForTest([...workspace.flags, '--import-token-file', tokenFile], { env })
  const path = workspace.write('world.ndjson', SMALL_WORLD + templateLines(0, 5_000).join(''))
  const there = ['--to', `${serving.url}/`, '--token-file', tokenFile]
  const done = await runHere(['import', path, ...there])
  expect([done.exitCode, done.stdout, done.stderr]).toEqual([
    0,
    `imported ${path}: 5008 added, 0 replaced, 0 unchanged\n`,
    '',
  ])
  const again = await runHere(['import', path, '--replace', ...there])
  expect(again.stdout).toBe(`imported ${path}: 0 added, 0 replaced, 5008 unchanged, 0 removed\n`)
  const named = workspace.write('named.ndjson', documentLine('project', BEN, '{"key":"k1","code":"c1","id":"other"}'))
  const fields = ['--id-fields', 'key,id', '--ref-fields', 'code']
  expect(await runHere(['import', named, ...fields, ...there])).toMatchObject({ exitCode: 0, stderr: '' })
  const gone = workspace.write('gone.ndjson', `{"kind":"project","email":"${BEN}","id":"k1","removed":true}\n`)
  expect((await runHere(['import', gone, ...there])).stdout).toContain(' 1 removed\n')
  const piped = await runHere(['import', '-', ...there], { stdin: documentLine('project', BEN, '{"id":"piped"}') })
  expect([piped.exitCode, piped.stdout]).toEqual([0, 'imported stdin: 1 added, 0 replaced, 0 unchanged\n'])
  const bad = workspace.write('bad.ndjson', '{"kind":"user"}\n')
  expect(await runHere(['import', bad, ...there])).toMatchObject({
    exitCode: 1,
    stderr: `${bad}:1: "email" must be a string that is not empty\n1 bad line: nothing was imported\n`,
  })
  writeFileSync(tokenFile, `${TOKEN.toUpperCase()}`)
  const refused = await runHere(['import', path, ...there])
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('answered 401')])
  expect(refused.stderr).not.toContain(TOKEN.toUpperCase())
  expect({ there: readdirSync(env.TMPDIR), here: readdirSync(ownTemporary) }).toEqual({ there: [], here: [] })
  await serving.kill('SIGTERM')
  expect(await runHere(['import', path, ...there])).toMatchObject({
    exitCode: 1,
    stderr: `${serving.url}: no answer (ECONNREFUSED): run the import again\n`,
  })
  expect(serving.stderr()).not.toContain(TOKEN)
})

test.skipIf(!hasCurl)('the curl command of the guide imports', async () => {
  const guide = readFileSync(new URL('../docs/guide/import-and-export.md', import.meta.url), 'utf8')
  const [command = ''] = /^\(printf .* \| curl .*$/m.exec(guide) ?? []
  const workspace = createWorkspace()
  const tokenFile = workspace.write('import-token', `${TOKEN}\n`)
  workspace.write('workspaces.ndjson', SMALL_WORLD)
  const { url } = await serveForTest([...workspace.flags, '--import-token-file', tokenFile])
  const script = command.replace('https://gateway.example.com', url)
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: workspace.directory })
  expect(eventsOf(stdout).at(-1)).toMatchObject({ type: 'imported', added: 8 })
})

test.skipIf(!isInstalled('nginx'))('import --to reports that a proxy refuses files of this size', async () => {
  const workspace = createWorkspace()
  const [path, token] = [workspace.path('world.ndjson'), workspace.write('token', TOKEN)]
  const serving = await serveHereForTest([...workspace.flags, '--import-token-file', token])
  const port = await freePort('127.0.0.1')
  const text = nginxFrame(`server { listen 127.0.0.1:${port}; location / { proxy_pass ${serving.url}; } }`)
  await startProxy({ program: 'nginx', files: [{ name: 'nginx.conf', text }], ports: [port] })
  const send = () => runHere(['import', path, '--to', `http://127.0.0.1:${port}`, '--token-file', token])
  writeFileSync(path, SMALL_WORLD)
  expect(await send()).toMatchObject({ exitCode: 0, stderr: '' })
  writeFileSync(path, documentLine('project', ANA, `{"id":"p1","text":"${'x'.repeat(2 * MIB)}"}`))
  expect(await send()).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `http://127.0.0.1:${port} answered 413: something in front of the gateway refuses bodies of this size; \`workspace-gateway doctor URL\` tells how to change that\n`,
  })
})

test('import --to exits with 1 when one line was refused, although the others were imported', async () => {
  const workspace = createWorkspace()
  const tokenFile = workspace.write('token', TOKEN)
  await workspace.load(documentLine('template', ANA, '{"id":"last"}'))
  const database = new SqliteDatabase(workspace.path('workspace.db'))
  // Moves the document to the last position of its list, so that there is none behind it.
  database.exec(`update document set key = key | ${LAST_DOCUMENT_POSITION}`)
  database.close()
  const serving = await serveHereForTest([...workspace.flags, '--import-token-file', tokenFile])
  const path = workspace.write('more.ndjson', `${documentLine('template', ANA, '{"id":"more"}')}${SMALL_WORLD}`)
  const { exitCode, stdout, stderr } = await runHere(['import', path, '--to', serving.url, '--token-file', tokenFile])
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/:1: .*\n.* were not imported\n$/s)])
  expect(stdout).toContain(' added')
})

test('import --to prints what the other machine sends without its control characters', async () => {
  const [control, orphans] = ['\u001b[2J\n\u009b31m', [{ line: 1, ref: '\u001b]0;r\u0007', exports: 1 }]]
  await using other = await startPlainServer({ records: '' })
  const workspace = createWorkspace()
  const [path, token] = [workspace.write('world.ndjson', SMALL_WORLD), workspace.write('token', TOKEN)]
  const printed = async (status: number, ...events: readonly object[]) => {
    other.setIntercept((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(status).end(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
      })
      return true
    })
    const { stdout, stderr } = await runHere(['import', path, '--to', other.url, '--token-file', token])
    return stdout + stderr
  }
  const user = { type: 'user', email: `${control}@example.com`, added: control, replaced: 0, unchanged: 0, removed: 0 }
  const texts = [
    await printed(200, { type: 'badLine', line: control, reason: control }, { type: 'failed', message: control }),
    await printed(200, user, { ...user, type: 'imported', orphanExports: 1, orphans }),
    await printed(503, { detail: control }),
    await printed(400, { detail: control }),
  ]
  for (const text of texts) {
    expect(text).toContain(' 31m')
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  }
  expect(texts.map((text) => text.trimEnd().split('\n').length)).toEqual([2, 3, 1, 1])
})

test('import --to reports a refusal that is never complete, and one without end', async () => {
  await using other = await startPlainServer({ records: '' })
  const workspace = createWorkspace()
  const [path, token] = [workspace.write('world.ndjson', SMALL_WORLD), workspace.write('token', TOKEN)]
  const importTo = () => runHere(['import', path, '--to', other.url, '--token-file', token])
  const told = { exitCode: 1, stdout: '', stderr: `${other.url} answered 502: run the import again\n` }
  other.setIntercept((request, response) => {
    request.resume()
    const send = () => {
      while (response.write('x'.repeat(16_384)));
    }
    response
      .on('drain', send)
      .on('error', () => {})
      .writeHead(502)
    send()
    return true
  })
  expect(await importTo()).toEqual(told)

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const begun = Promise.withResolvers<void>()
  other.setIntercept((request, response) => {
    request.resume()
    response.writeHead(502).write('{"detail":')
    begun.resolve()
    return true
  })
  const importing = importTo()
  await begun.promise
  await vi.waitUntil(() => vi.getTimerCount() > 0)
  vi.advanceTimersByTime(60_000)
  expect(await importing).toEqual(told)
})

// If the gateway held no lock, the next program that closes the database would remove its write-ahead log.
test.each([301, 302, 303, 307, 308])(
  'import --to reports where a gateway has moved (%i), and sends the token nowhere else',
  async (status) => {
    await using other = await startPlainServer({ records: '' })
    await using moved = await startPlainServer({ records: '' })
    moved.setIntercept(({ url }, response) => {
      response.writeHead(status, { location: other.url + url }).end()
      return true
    })
    const workspace = createWorkspace()
    const [path, token] = [workspace.write('world.ndjson', SMALL_WORLD), workspace.write('token', TOKEN)]
    expect(await runHere(['import', path, '--to', moved.url, '--token-file', token, '--replace'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `${moved.url} answered ${status}: it has moved to ${other.url}; give that address\n`,
    })
    expect([moved.requests.length, other.requests]).toEqual([1, []])
  },
)

test.skipIf(!existsSync('/proc/locks'))('a gateway still holds its lock on the database after an import', async () => {
  const workspace = createWorkspace()
  const path = workspace.path('workspace.db')
  const serving = await serveForTest([...workspace.flags, '--import-token-file', workspace.write('token', TOKEN)])
  const locks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${statSync(path).ino} `))
  expect(locks()).not.toEqual([])
  const answer = await fetch(`${serving.url}/import`, { method: 'POST', headers: BEARER, body: SMALL_WORLD })
  expect(await answer.text()).toContain('"type":"imported"')
  expect(locks()).not.toEqual([])
  expect(await serving.kill('SIGTERM')).toBe(0)
})

test('a gateway does not start when its import token is too short or missing', async () => {
  const workspace = createWorkspace()
  const short = workspace.write('token', `${'secret'.padEnd(31, 'x')}\n`)
  for (const path of [short, workspace.path('missing')]) {
    const { exitCode, stderr } = await workspace.run('serve', '--port', '0', '--import-token-file', path)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--import-token-file: ')])
    expect(stderr).not.toContain('secret')
  }
})
