// Tests how the gateway serves the pages of the explorer: to whom, with which headers, and under a base path.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { guardsOf } from '../src/auth/guards/guards.ts'
import { startRecord } from '../src/http/request-record.ts'
import { openExplorerBuild } from '../src/pages/assets.ts'
import { createPage } from '../src/pages/pages.ts'
import { callerWith } from './support/callers.ts'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a browser gets the page, every other client the list of links', async () => {
  const gateway = await startGateway()
  const page = await gateway.get('/', undefined, BROWSER)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  // Like the list of links, which has the same URL.
  expect(page.headers.get('vary')).toBe('Accept')
  for (const path of ['/graphql', '/workspace', '/docs']) {
    expect((await gateway.get(path, undefined, BROWSER)).text).toBe(page.text)
  }
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const links = await gateway.get('/', undefined, headers)
    expect(links.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(links.headers.get('vary')).toBe('Accept')
    expect(links.json().graphql).toBe('/graphql')
  }
  // A GraphQL query that is typed into a browser's address bar gets the result of the query.
  expect((await gateway.get('/graphql?query=%7B__typename%7D', undefined, BROWSER)).json().data).toEqual({
    __typename: 'Query',
  })
})

test('docs/api/rest.md names every path in the list of links', async () => {
  const gateway = await startGateway()
  const links: Record<string, string | readonly string[]> = (await gateway.get('/')).json()
  const paths = Object.values(links).flat()
  expect(paths.length).toBeGreaterThan(10)
  const page = readFileSync(new URL('../docs/api/rest.md', import.meta.url), 'utf8')
  expect(paths.filter((path) => !page.includes(`\`${path}`))).toEqual([])
})

test.each([
  ['text/html', true],
  ['TEXT/HTML', true],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['text/html;q=0.1', true],
  ['text/html; charset=utf-8', true],
  ['application/json, text/html', true],
  ['application/json;q=0.5, text/html;q=0.6', true],
  ['application/json, text/html;q=0', false],
  ['text/html;q=0', false],
  ['text/html;q=0, */*', false],
  ['application/json, text/html;q=0.9', false],
  ['text/html;q=0.9, application/graphql-response+json', false],
  ['text/html;q=0.9, application/problem+json;q=0.8, application/json', false],
  ['text/html;q=2', false],
  ['text/htmlx', false],
  ['x-text/html', false],
  ['application/json;profile=text/html', false],
  ['text/*', false],
  ['*/*', false],
  ['', false],
])('a request with "Accept: %s" gets the page: %s', async (accept, isShown) => {
  const gateway = await startGateway()
  for (const path of ['/', '/graphql', '/nosuchpage']) {
    const { headers, text } = await gateway.get(path, undefined, { accept })
    const isPage = headers.get('content-type') === 'text/html; charset=utf-8'
    expect([path, isPage, text.startsWith('<!doctype html>')]).toEqual([path, isShown, isShown])
  }
})

test('the page allows only scripts from its own files, and nobody may frame it', async () => {
  const gateway = await startGateway()
  const { headers, text } = await gateway.get('/', undefined, BROWSER)
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ])
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(text).not.toMatch(/<script(?![^>]*\ssrc=)/)
  expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
  const again = await gateway.get('/', undefined, { ...BROWSER, 'if-none-match': headers.get('etag') ?? '' })
  expect([again.status, again.text, again.headers.get('content-type')]).toEqual([304, '', null])
})

test('the files of the page are immutable, and compressed for clients that accept it', async () => {
  const gateway = await startGateway()
  const path = (await filesOf(gateway, '')).find((file) => file.endsWith('.js')) ?? ''
  const plain = await bytesOf(gateway, path, 'identity')
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(plain.headers.get('vary')).toBe('Accept-Encoding')
  expect(plain.headers.get('content-encoding')).toBeNull()
  const script = await gateway.get(path)
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  for (const [accept, coding, decompress] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ['br;q=0.1, gzip', 'gzip', gunzipSync],
    ['zstd, br;q=0.5, gzip;q=0.8', 'gzip', gunzipSync],
    ['zstd, br, gzip', 'br', brotliDecompressSync],
  ] as const) {
    const build = await openExplorerBuild()
    const endpoint = build?.files.find((file) => file.path === path)
    const reply = await endpoint?.handle({ ...REQUEST, header: (name) => ({ 'accept-encoding': accept })[name] })
    expect(reply?.headers['content-encoding']).toBe(coding)
    expect(decompress(reply?.body as Uint8Array).toString()).toBe(script.text)
  }
})

test('a base path precedes the page, its files and its facts', async () => {
  const gateway = await startGateway({ basePath: '/v1' })
  for (const path of ['/v1', '/v1/', '/v1/graphql']) {
    const page = await gateway.get(path, undefined, BROWSER)
    expect([path, page.status]).toEqual([path, 200])
    expect(page.text).toContain('<base href="/v1/" />')
  }
  for (const path of await filesOf(gateway, '/v1')) expect((await gateway.get(`/v1${path}`)).status).toBe(200)
  expect((await gateway.get('/v1/explorer.json')).json().basePath).toBe('/v1')
  expect((await gateway.get('/explorer.json')).status).toBe(404)
})

test('the page learns of a demo user only if there is one and the guard is local', async () => {
  const gateway = await startGateway({ demoEmail: ANA })
  expect((await gateway.get('/explorer.json')).json()).toMatchObject({ loginGuard: 'local', demoEmail: null })
  await gateway.load(SMALL_WORLD)
  expect((await gateway.get('/explorer.json')).json().demoEmail).toBe(ANA)
  const open = await startGateway({ demoEmail: ANA, createGuard: guardsOf(['open'], { trustedOrigins: [] }) })
  await open.load(SMALL_WORLD)
  expect((await open.get('/explorer.json')).json()).toMatchObject({ loginGuard: 'open', demoEmail: null })
})

test('a deleted file of a build is reported as not found, and served again when it is back', async () => {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '')
  const file = join(folder, 'assets', 'a.js.gz')
  writeFileSync(file, gzipSync('first'))
  const build = await openExplorerBuild(pathToFileURL(`${folder}/`))
  rmSync(file)
  await expect(build?.files[0]?.handle(REQUEST)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  writeFileSync(file, gzipSync('again'))
  expect(String((await build?.files[0]?.handle(REQUEST))?.body)).toBe('again')
})

test('F35: a browser at an unknown path gets a page and 404, other clients get a problem', async () => {
  const gateway = await startGateway({ basePath: '/v1' })
  for (const path of ['/v1/nosuchpage', '/nosuchpage', '/v1/workspace/more']) {
    const page = await gateway.get(path, undefined, { ...BROWSER, 'if-none-match': '*' })
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.text).toContain('<base href="/v1/" />')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const head = await gateway.send('HEAD', path, undefined, BROWSER)
    for (const name of ['content-type', 'content-length', 'cache-control'])
      expect([name, head.status, head.headers.get(name)]).toEqual([name, 404, page.headers.get(name)])
    const problem = await gateway.get(path, undefined, { accept: 'application/json' })
    expect([problem.status, problem.json().code]).toEqual([404, 'NOT_FOUND'])
  }
  const post = await gateway.send('POST', '/v1/nosuchpage', '{}', { ...BROWSER, 'content-type': 'application/json' })
  expect([post.status, post.json().code]).toEqual([404, 'NOT_FOUND'])
  const reading = await gateway.get('/v1/exports?r=none', undefined, BROWSER)
  expect([reading.status, reading.json().code]).toEqual([401, 'UNAUTHENTICATED'])
  const icon = await gateway.get('/v1/favicon.ico')
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect(icon.headers.get('cache-control')).not.toContain('immutable')
})

test('without a build the page says how to make one', async () => {
  expect(await openExplorerBuild(new URL('file:///nowhere/'))).toBeNull()
  const { status, body } = await createPage(null, '', () => {})(REQUEST)
  expect(status).toBe(200)
  expect(String(body)).toContain('npm run build')
})

const REQUEST = {
  method: 'GET',
  path: '/',
  search: '',
  ...callerWith(),
  body: async () => new Uint8Array(),
  async *bodyStream() {},
  onClosed() {},
  isFirstOfConnection: true,
  record: startRecord(0),
}

async function filesOf(gateway: TestGateway, basePath: string): Promise<readonly string[]> {
  const { text } = await gateway.get(`${basePath}/`, undefined, BROWSER)
  return [...text.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
}

async function bytesOf(gateway: TestGateway, path: string, encoding: string): Promise<Response> {
  return fetch(gateway.url + path, { headers: { 'accept-encoding': encoding } })
}
