// `import <URL>`: moving users from another server of the REST contract, or an NDJSON file, into a database.
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAuthority } from './support/certificates.ts'
import { type Finished, run, runHere, serveForTest } from './support/command-line.ts'
import { freePort } from './support/free-port.ts'
import { createWorkspace } from './support/import-workspace.ts'
import { startPlainServer } from './support/plain-server.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, BEN, SMALL_WORLD } from './support/workspaces.ts'

async function oldServer() {
  const cwd = temporaryDirectory()
  const database = `file:${join(cwd, 'old.db')}`
  expect((await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })).exitCode).toBe(0)
  const { url } = await serveForTest(['--database', database, '--base-path', '/v1', '--access-token-ttl', '1'], { cwd })
  return { url: `${url}/v1`, database }
}

test('import copies the users of a contract server byte for byte, and importing again adds nothing', async () => {
  const { url, database } = await oldServer()
  const moved = `file:${join(temporaryDirectory(), 'new.db')}`
  const args = ['import', url, '--email', `${ANA},${BEN}`, '--database', moved]
  const first = await run(args)
  expect([first.exitCode, first.stderr]).toEqual([0, ''])
  expect(first.stdout).toContain('7 added, 0 replaced, 0 unchanged')
  const again = await runHere(args)
  expect(again.stdout).toContain('0 added, 0 replaced, 7 unchanged')
  const lines = async (from: string) =>
    (await runHere(['dump', '--database', from])).stdout
      .split('\n')
      // The contract shows only the newest export, and not when it was created.
      .filter((line) => line !== '' && !line.includes('old.html'))
      .map((line) => line.replace(/"createdAt":"[^"]*"/, ''))
  expect(await lines(moved)).toEqual(await lines(database))
})

test('import reports users without a workspace and goes on, but fails when the server does not answer', async () => {
  const { url } = await oldServer()
  const moved = `file:${join(temporaryDirectory(), 'new.db')}`
  const nobody = await runHere(['import', url, '--email', `nobody@example.com,${ANA}`, '--database', moved])
  expect([nobody.exitCode, nobody.stderr]).toEqual([
    0,
    'users without a workspace there, for whom nothing was imported: 1\n',
  ])
  expect(nobody.stdout).toContain('1 user, 1 not there: 5 added')
  const nowhere = `http://127.0.0.1:${await freePort('127.0.0.1')}`
  const away = await runHere(['import', nowhere, '--email', ANA, '--database', `${moved}.2`])
  expect([away.exitCode, away.stdout, away.stderr]).toEqual([
    1,
    '',
    `GET ${nowhere}/projects: no answer (ECONNREFUSED)\n`,
  ])
  expect(existsSync(`${moved}.2`.slice('file:'.length))).toBe(false)
})

test('import exits with 1 (run it again) when the server answers 503 or breaks off from the first request on', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = join(temporaryDirectory(), 'new.db')
  const moveIn = () =>
    runHere(['import', server.url, '--email', ANA, '--database', `file:${database}`, '--max-outage', '0s'])
  server.setIntercept((_request, response) => response.writeHead(503).end().writableEnded)
  const busy = await moveIn()
  expect([busy.exitCode, busy.stderr]).toEqual([1, `GET ${server.url}/projects answered 503\n`])
  server.setIntercept((request) => request.socket.destroy().destroyed)
  const broken = await moveIn()
  expect([broken.exitCode, broken.stderr]).toEqual([1, `GET ${server.url}/projects: no answer (ECONNRESET)\n`])
  expect(existsSync(database)).toBe(false)
})

/** HTTPS in front of a plain server, with a certificate of `authority`, the PEM file of a new certificate authority. */
async function startTlsFront(server: string): Promise<{ url: string; authority: string }> {
  const authority = createAuthority('the operator')
  const { key, certificate } = authority.sign('old', ['127.0.0.1'])
  const tls = createTlsServer({ key, cert: certificate }, (socket) => {
    const onwards = connect(Number(new URL(server).port), '127.0.0.1')
    for (const side of [socket, onwards]) side.on('error', () => {})
    socket.pipe(onwards).pipe(socket)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void tls.close())
  await once(tls, 'listening')
  const file = join(temporaryDirectory(), 'ca.pem')
  writeFileSync(file, authority.certificate)
  return { url: `https://127.0.0.1:${Object(tls.address()).port}`, authority: file }
}

test('import does not follow a redirect of a file from HTTPS to HTTP', async () => {
  await using plain = await startPlainServer({ records: SMALL_WORLD })
  const asked: unknown[] = []
  plain.setIntercept(({ url }, response) => {
    asked.push(url)
    if (url === '/all.ndjson') response.end(`{"kind":"user","email":"${ANA}"}\n`)
    else response.writeHead(302, { location: `${plain.url}/all.ndjson?signature=of-the-file` }).end()
    return true
  })
  const { url, authority } = await startTlsFront(plain.url)
  const cwd = temporaryDirectory()
  const { exitCode, stdout, stderr } = await run(['import', `${url}/latest`], {
    cwd,
    env: { NODE_EXTRA_CA_CERTS: authority },
  })
  const why = `it answered 302 and points to ${plain.url}/all.ndjson, which is not encrypted`
  const message = `cannot read ${url}/latest: ${why}: name that address if you trust the network\n`
  expect([exitCode, stdout, stderr]).toEqual([2, '', message])
  expect(asked).toEqual(['/latest'])
})

test('import and conformance report an untrusted certificate, and import trusts the authority of NODE_EXTRA_CA_CERTS', async () => {
  await using plain = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const front = await startTlsFront(plain.url)
  const url = `${front.url}/v1`
  const cwd = temporaryDirectory()
  const args = ['--email', ANA]
  const stranger = 'no answer (UNABLE_TO_VERIFY_LEAF_SIGNATURE)\n'
  const unknown = await run(['import', url, ...args], { cwd })
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, `GET ${url}/projects: ${stranger}`])
  const unchecked = await run(['conformance', url, ...args], { cwd })
  expect([unchecked.exitCode, unchecked.stderr]).toEqual([1, `POST ${url}/login: ${stranger}`])
  const known = await run(['import', url, ...args, '--verify'], { cwd, env: { NODE_EXTRA_CA_CERTS: front.authority } })
  expect([known.exitCode, known.stderr]).toEqual([0, ''])
  expect(known.stdout).toContain('the same on both sides')
})

test('import joins multi-line documents and elements of the other server into one line each, with the same meaning', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const workspace = server.workspaces.get(ANA)
  workspace?.templates.splice(0, 9, '{\r\n  "id": "t",\n  "text": "a\\nb"\r}')
  workspace?.exports.set('site', { createdAt: '2026-01-01T00:00:00Z', elements: ['{\n"path": "a"\n}', '[1,\n2.0]'] })
  const moved = `file:${join(temporaryDirectory(), 'new.db')}`
  const { exitCode, stderr } = await runHere(['import', server.url, '--email', ANA, '--database', moved])
  expect([exitCode, stderr]).toEqual([0, ''])
  const { stdout } = await runHere(['dump', '--database', moved])
  const data = (kind: string) => stdout.split('\n').find((line) => line.startsWith(`{"kind":"${kind}"`))
  expect(data('template')).toContain('"data":{    "id": "t",   "text": "a\\nb" }}')
  expect(data('export')).toContain('"data":[{ "path": "a" },[1, 2.0]]}')
})

test('import reads an NDJSON file from its URL', async () => {
  const server = createServer((_request, response) => response.end(SMALL_WORLD)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : ''
  const database = `file:${join(temporaryDirectory(), 'new.db')}`
  const imported = await runHere(['import', `http://127.0.0.1:${port}/all.ndjson`, '--database', database])
  expect([imported.exitCode, imported.stderr]).toEqual([0, ''])
  expect(imported.stdout).toContain('8 added')
  server.close()
})

test('import exits with 1 when a file URL does not answer, breaks off or answers 502, and with 2 (wrong usage) on 404', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = join(temporaryDirectory(), 'new.db')
  const read = (url: string) => runHere(['import', `${url}/all.ndjson?key=k-1`, '--database', `file:${database}`])
  const nowhere = `http://127.0.0.1:${await freePort('127.0.0.1')}`
  const away = await read(nowhere)
  expect([away.exitCode, away.stderr]).toEqual([1, `cannot read ${nowhere}/all.ndjson: no answer (ECONNREFUSED)\n`])
  server.setIntercept((_request, response) => {
    response.writeHead(200, { 'content-length': '9999' }).write(SMALL_WORLD, () => response.destroy())
    return true
  })
  const broken = await read(server.url)
  expect([broken.exitCode, broken.stderr]).toEqual([
    1,
    `cannot read ${server.url}/all.ndjson: its answer broke off (ECONNRESET)\n`,
  ])
  server.setIntercept((_request, response) => response.writeHead(502).end().writableEnded)
  expect((await read(server.url)).exitCode).toBe(1)
  server.setIntercept((_request, response) => response.writeHead(404).end().writableEnded)
  expect((await read(server.url)).exitCode).toBe(2)
  expect(existsSync(database)).toBe(false)
})

describe('a server that falls silent', () => {
  /** `beginning` is the beginning of its answer. `argumentsFor` returns those of `import`. */
  async function importFrom(beginning: string, argumentsFor: (url: string) => readonly [string, ...string[]]) {
    await using server = await startPlainServer({ records: SMALL_WORLD })
    const asked = Promise.withResolvers<void>()
    server.setIntercept((request, response) => {
      request.resume()
      if (beginning !== '') response.write(beginning)
      asked.resolve()
      return true
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let finished: Finished | null = null
    void createWorkspace()
      .import(...argumentsFor(server.url))
      .then((end) => {
        finished = end
      })
    await asked.promise
    while (finished === null) {
      await vi.advanceTimersByTimeAsync(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { finished, url: server.url }
  }

  test.each([
    ['before it answers', '', 'no answer'],
    ['in the middle of the file', SMALL_WORLD, 'its answer broke off'],
  ])('%s is given up by import of a file URL', async (_, beginning, reason) => {
    const { finished, url } = await importFrom(beginning, (address) => [`${address}/all.ndjson`])
    const stderr = `cannot read ${url}/all.ndjson: ${reason} (ETIMEDOUT)\n`
    expect(finished).toEqual({ exitCode: 1, stdout: '', stderr })
  })

  test('after the progress of an import is given up by import --to', async () => {
    const path = join(temporaryDirectory(), 'import')
    writeFileSync(path, 'x'.repeat(64))
    const progress = '{"type":"progress","phase":"checking","bytes":1,"records":1}\n'
    const { finished } = await importFrom(progress, (address) => [path, '--to', address, '--token-file', path])
    const stderr = 'the connection broke off: run the import again\n'
    expect(finished).toEqual({ exitCode: 1, stdout: '', stderr })
  })
})
