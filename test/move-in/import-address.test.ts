// import of a URL without users: the URL names a file of records; import recognizes when a server was meant instead.
import { afterEach, expect, test, vi } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const ADVICE = 'to read a server of the contract, name its users with --email or --emails'

/** What the server answers at its URL. */
const ANSWERS = [
  ['an index in JSON', 200, 'application/json', '{"name":"old server"}'],
  ['a page', 200, 'text/html', '<!DOCTYPE html>\n<title>Old server</title>\n'],
  ['404', 404, 'text/html', 'Cannot GET /v1'],
  ['401', 401, 'application/json', '{"error":"Unauthorized"}'],
] as const

test.each(ANSWERS)('import advises naming users if a server answers with %s', async (_, status, type, body) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body)
    return true
  })
  const { exitCode, stdout, stderr } = await createWorkspace().import(server.url)
  expect([exitCode === 0, stdout]).toEqual([false, ''])
  expect(stderr.trimEnd().endsWith(ADVICE)).toBe(true)
})

test('the exit code of import says whether a later attempt may read the file at a URL', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const exitCodes: Record<number, number | null> = {}
  for (const status of [404, 408, 429, 500, 503]) {
    server.setIntercept((_request, response) => {
      response.writeHead(status).end()
      return true
    })
    exitCodes[status] = (await createWorkspace().import(server.url)).exitCode
  }
  expect(exitCodes).toEqual({ 404: 2, 408: 1, 429: 1, 500: 1, 503: 1 })
})

test('import closes the connection of a server that refuses and goes on sending', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const closed = Promise.withResolvers<void>()
  server.setIntercept((_request, response) => {
    response.once('close', closed.resolve).writeHead(404).write('x'.repeat(1_000_000))
    return true
  })
  const { exitCode, stderr } = await createWorkspace().import(server.url)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('it answered 404')])
  await closed.promise
})

test('import does not advise naming users for a bad line in a file at a URL or in a local file', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const text = `{"kind":"user","email":"${ANA}"}\n{"name":"no record"}\n`
  server.setIntercept((_request, response) => {
    response.end(text)
    return true
  })
  const workspace = createWorkspace()
  const here = workspace.write('bad.ndjson', '{"name":"no record"}\n')
  for (const source of [server.url, here]) {
    const { exitCode, stderr } = await workspace.import(source)
    expect([exitCode, stderr.includes('nothing was imported'), stderr.includes('--email')]).toEqual([1, true, false])
  }
})

afterEach(() => {
  vi.unstubAllEnvs()
})

test('import of a file refuses --email and --emails, also from the environment, and says what they are for', async () => {
  const workspace = createWorkspace()
  const file = workspace.write('ana.ndjson', SMALL_WORLD)
  const stderr =
    '--email and --emails (WORKSPACE_GATEWAY_EMAIL, WORKSPACE_GATEWAY_EMAILS) go with the address of a server, http:// or https://, and not with a file\n'
  expect(await workspace.import(file, '--email', ANA)).toEqual({ exitCode: 2, stdout: '', stderr })
  vi.stubEnv('WORKSPACE_GATEWAY_EMAIL', ANA)
  for (const source of [file, '-']) {
    expect(await workspace.import(source)).toEqual({ exitCode: 2, stdout: '', stderr })
  }
  vi.stubEnv('WORKSPACE_GATEWAY_EMAIL', '')
  const empty = await workspace.import(file)
  expect([empty.exitCode, empty.stderr]).toEqual([2, '--email (WORKSPACE_GATEWAY_EMAIL): must name a user\n'])
})

test('a server, a file and the gateway of --to may be at a port that browsers refuse', async () => {
  const address = 'http://127.0.0.1:10080'
  const { import: load, run, write } = createWorkspace()
  const [server, file] = [await run('import', address, '--email', ANA), await load(`${address}/all.ndjson`)]
  const reason = 'no answer (ECONNREFUSED)\n'
  expect(server).toEqual({ exitCode: 1, stdout: '', stderr: `GET ${address}/projects: ${reason}` })
  expect(file).toEqual({ exitCode: 1, stdout: '', stderr: `cannot read ${address}/all.ndjson: ${reason}` })
  const [records, token] = [write('all.ndjson', ''), write('token', 'x'.repeat(64))]
  const sent = await runHere(['import', records, '--to', address, '--token-file', token])
  const refused = `${address}: no answer (ECONNREFUSED): run the import again\n`
  expect([sent.exitCode, sent.stderr]).toEqual([1, refused])
})

test('import follows the redirects of a file', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept(({ url }, response) => {
    if (url === '/all.ndjson') response.end(`{"kind":"user","email":"${ANA}"}\n`)
    else response.writeHead(302, { location: url === '/latest' ? '/newest' : '/all.ndjson' }).end()
    return true
  })
  const { exitCode, stdout } = await createWorkspace().import(`${server.url}/latest`)
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('1 added')])
  server.setIntercept((_request, response) => {
    response.writeHead(302, { location: '/latest' }).end()
    return true
  })
  const endless = await createWorkspace().import(`${server.url}/latest`)
  expect([endless.exitCode, endless.stderr]).toEqual([2, expect.stringContaining('it answered 302')])
})

const NEW = 'https://new.example.com/v2'

test.each([301, 302, 303, 307, 308])(
  'import reports where a server has moved (%i), and does not follow the redirect',
  async (status) => {
    await using moved = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
    moved.setIntercept(({ url }, response) => {
      const path = url?.slice('/v1'.length)
      response.writeHead(status, { location: `${NEW}${path}?key=hidden` }).end()
      return true
    })
    const { exitCode, stdout, stderr } = await createWorkspace().run('import', moved.url, '--email', ANA)
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      `GET ${moved.url}/projects answered ${status}: it has moved to ${NEW}; give that address\n`,
    ])
    expect(moved.requests).toHaveLength(1)
  },
)

test('import reports for each user a server that redirects only its logins, or to another page', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const locations = new Map<string, string>()
  server.setIntercept(({ url }, response) => {
    const location = locations.get(url ?? '')
    if (location === undefined) return false
    response.writeHead(302, { location }).end()
    return true
  })
  const toldFor = async (path: string, location: string) => {
    locations.clear()
    locations.set(`/v1${path}`, location)
    const { exitCode, stderr } = await createWorkspace().run('import', server.url, '--email', ANA)
    expect(exitCode).toBe(1)
    return stderr
  }
  const login = `POST ${server.url}/login answered 302`
  const { origin } = new URL(server.url)
  expect(await toldFor('/login', `${NEW}/login`)).toContain(`${login}: it has moved to ${NEW}; give that address\n`)
  expect(await toldFor('/login', '/v3/login')).toContain(`${login}: it has moved to ${origin}/v3; give that address\n`)
  expect(await toldFor('/login', '/start?to=x')).toContain(`${login}: it points to ${origin}/start\n`)
  expect(await toldFor('/templates', '/start')).toContain(
    `GET ${server.url}/templates answered 302: it points to ${origin}/start\n`,
  )
})

test('import reads from a server whose reads redirect requests without a token to a page', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept(({ method, headers }, response) => {
    if (method !== 'GET' || headers.authorization !== undefined) return false
    response.writeHead(302, { location: '/sign-in' }).end()
    return true
  })
  const { exitCode } = await createWorkspace().run('import', server.url, '--email', ANA)
  expect(exitCode).toBe(0)
})
