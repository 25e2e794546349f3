// import of an address without users: it names a file of records, and a server that is meant instead is recognised.
import { expect, test } from 'vitest'
import { createWorkspace } from '../support/import-workspace.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const ADVICE = 'to read a server of the contract, name its users with --email or --emails'

/** What the server answers at its address. */
const ANSWERS = [
  ['an index in JSON', 200, 'application/json', '{"name":"old server"}'],
  ['a page', 200, 'text/html', '<!DOCTYPE html>\n<title>Old server</title>\n'],
  ['404', 404, 'text/html', 'Cannot GET /v1'],
  ['401', 401, 'application/json', '{"error":"Unauthorized"}'],
] as const

test.each(ANSWERS)('a server that answers %s is not taken for a file without a word', async (_, status, type, body) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body)
    return true
  })
  const { exitCode, stdout, stderr } = await createWorkspace().import(server.url)
  expect([exitCode === 0, stdout]).toEqual([false, ''])
  expect(stderr.trimEnd().endsWith(ADVICE)).toBe(true)
})

test('a file at an address that has a bad line, and a file here, are told without that advice', async () => {
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

const NEW = 'https://new.example.com/v2'

test.each([301, 302, 307, 308])(
  'a server that has moved (%i) is told with the address to give, and not followed',
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

test('a server that has moved with its logins alone, or points to another page, is told for each user', async () => {
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

test('a server whose reads send strangers to a page is imported from', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept(({ method, headers }, response) => {
    if (method !== 'GET' || headers.authorization !== undefined) return false
    response.writeHead(302, { location: '/sign-in' }).end()
    return true
  })
  const { exitCode } = await createWorkspace().run('import', server.url, '--email', ANA)
  expect(exitCode).toBe(0)
})
