// Runs the configurations and commands of docs/operate/behind-a-proxy.md.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createServer } from 'vite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../../src/auth/caller.ts'
import { type CreateGuard, guardsOf } from '../../../src/auth/guards/guards.ts'
import { serveForTest } from '../../support/command-line.ts'
import { startGateway } from '../../support/gateway.ts'
import { isInstalled } from '../../support/proxy-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from '../../support/workspaces.ts'
import { blocks, DOCUMENTED, type Documented, NAME, startDocumented } from './documented-proxies.ts'

const IMPORT_TOKEN = 'a-token-of-this-test-which-nobody-else-has'
const JSON_BODY = { 'content-type': 'application/json' }
/** Differs from the address of the proxy, which is trusted. */
const CLIENT_ADDRESS = '127.0.0.2'

/** The guard `open`, which also records the client of each attempt. */
function watched(clients: Client[]): CreateGuard {
  return async (services) => {
    const open = await guardsOf(['open'], { trustedOrigins: [] })(services)
    return {
      ...open,
      decide(attempt) {
        clients.push(attempt.caller.client)
        return open.decide(attempt)
      },
    }
  }
}

const FORGED = {
  'x-forwarded-for': '203.0.113.9, 127.0.0.1',
  'x-forwarded-host': 'evil.example.com',
  'x-forwarded-proto': 'gopher',
  forwarded: 'for=203.0.113.9;proto=http;host=evil.example.com',
  'x-request-id': 'chosen-by-a-client',
  // A proxy drops the headers that this one names (RFC 9110 section 7.6.1), and must add its own ones after that.
  connection: 'keep-alive, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto',
}

describe('the page about proxies', () => {
  for (const documented of DOCUMENTED) {
    const { name, program, proxyProtocol = false } = documented
    test.runIf(isInstalled(program)).each([
      ['POST', '/login'],
      ['DELETE', '/logout'],
    ])(`its configuration of ${name} sends %s %s only once, even if no answer comes`, async (method, path) => {
      let received = ''
      const breaking = createTcpServer((socket) => {
        socket.on('data', (bytes) => {
          received += bytes.toString('latin1')
          // The whole request has arrived, so the back end may have acted on it.
          if (received.includes('{}')) socket.destroy()
        })
        socket.on('error', () => {})
      })
      breaking.listen(0, '127.0.0.1')
      await once(breaking, 'listening')
      onTestFinished(() => void breaking.close())
      const { port, ca } = await startDocumented(
        documented,
        `http://127.0.0.1:${(breaking.address() as AddressInfo).port}`,
      )
      const outcome = new Promise((resolve) => {
        const headers = { ...JSON_BODY, host: `${NAME}:${port}`, 'content-length': 2 }
        const asked = request({ host: '127.0.0.1', port, servername: NAME, ca, method, path, headers, agent: false })
        asked.on('response', ({ statusCode }) => resolve(statusCode))
        asked.on('error', () => resolve('closed'))
        asked.end('{}')
      })
      expect(['closed', 502]).toContain(await outcome)
      expect(received.split(`${method} ${path} `)).toHaveLength(2)
    })

    test.runIf(isInstalled(program))(`its configuration of ${name} works as printed`, async () => {
      const clients: Client[] = []
      const options = { trustedProxies: ['127.0.0.1'], proxyProtocol, createGuard: watched(clients) }
      const gateway = await startGateway(options)
      const { port, ca } = await startDocumented(documented, gateway.url)

      async function send(method: string, path: string, body: object, headers: Record<string, string> = {}) {
        const { promise, resolve, reject } = Promise.withResolvers<{
          status: number
          headers: IncomingHttpHeaders
          json: Record<string, string>
          continued: number
        }>()
        const target = {
          host: '127.0.0.1',
          port,
          servername: NAME,
          localAddress: CLIENT_ADDRESS,
          ca,
        }
        const sent = JSON.stringify(body)
        let continued = 0
        const asked = request(
          { ...target, method, path, headers: { ...JSON_BODY, host: NAME, 'content-length': sent.length, ...headers } },
          (response) => {
            const { statusCode: status = 0, headers } = response
            text(response).then((got) => resolve({ status, headers, json: JSON.parse(got), continued }), reject)
          },
        )
        asked.on('error', reject)
        asked.on('continue', () => {
          continued += 1
          if (continued === 1) asked.end(sent)
        })
        if ('expect' in headers) asked.flushHeaders()
        else asked.end(sent)
        return promise
      }

      // The client accepts no coding. If the proxy asked for one, the length would be lost, and with it the sign that an
      // answer broke off.
      const document = await send('GET', '/openapi.json', {})
      expect([document.status, document.headers['content-length']]).toEqual([200, expect.any(String)])
      const login = await send('POST', '/login', { email: ANA })
      expect(login.status).toBe(200)
      expect((await send('POST', '/login', { email: ANA }, FORGED)).status).toBe(200)
      const client = { address: CLIENT_ADDRESS, scheme: 'https', host: NAME }
      expect(clients).toEqual([client, client])
      const refused = await send('POST', '/token', { refreshToken: 'wgr_unknown' }, FORGED)
      expect(refused.status).toBe(401)
      expect(refused.json.requestId).not.toBe(FORGED['x-request-id'])
      const { refreshToken } = login.json
      expect((await send('POST', '/token', { refreshToken })).status).toBe(200)
      // Java 17's HttpClient can wait for ever after a second 100.
      const expecting = await Promise.all(
        Array.from({ length: 8 }, () => send('POST', '/token', { refreshToken }, { expect: '100-continue' })),
      )
      expect(expecting.map(({ status, continued }) => [status, continued])).toEqual(Array(8).fill([200, 1]))
      expect((await send('DELETE', '/logout', { refreshToken })).status).toBe(200)
      expect((await send('POST', '/token', { refreshToken })).status).toBe(401)
    })
  }

  test.runIf(isInstalled('nginx'))('its nginx configuration passes imports on only with the import lines', async () => {
    const [documented] = DOCUMENTED
    if (documented === undefined) throw new Error('the page has no nginx')
    const [, lines = ''] = blocks('nginx')
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'import-token'), IMPORT_TOKEN, { mode: 0o600 })
    const gateway = await serveForTest(['--login-guard', 'none', '--import-token-file', 'import-token'], { cwd })
    const records = documentLine('project', ANA, `{"id":"p","text":"${'x'.repeat(2_000_000)}"}`)

    async function importThrough(through: Documented) {
      const { port, ca } = await startDocumented(through, gateway.url)
      const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>()
      const headers = { host: NAME, authorization: `Bearer ${IMPORT_TOKEN}`, 'content-type': 'application/x-ndjson' }
      const target = { host: '127.0.0.1', port, servername: NAME, ca, method: 'POST', path: '/import', headers }
      request(target, (response) => {
        text(response).then((body) => resolve({ status: response.statusCode, body }), reject)
      })
        .on('error', reject)
        .end(records)
      return promise
    }

    expect((await importThrough(documented)).status).toBe(413)
    const passed = await importThrough({
      ...documented,
      block: documented.block.replace('location / {\n', (begin) => begin + lines),
    })
    expect([passed.status, passed.body]).toEqual([200, expect.stringContaining('"imported"')])
  })

  test('its commands start a gateway', async () => {
    const commands = blocks('sh').flatMap((block) => block.trim().split('\n'))
    expect(commands.length).toBeGreaterThan(2)
    await Promise.all(
      commands.map(async (command) => {
        const [, args = ''] = /^npx workspace-gateway serve (.+)$/.exec(command) ?? []
        expect(args, command).not.toBe('')
        await serveForTest(args.split(' '), { cwd: temporaryDirectory() })
      }),
    )
  })

  test('its Vite proxy passes on every request of a page with the options it names; refusals name one', async () => {
    const [config = ''] = blocks('js')
    const [, basePath = ''] = /--base-path (\S+) --cors-origin http:\/\/localhost:5173/.exec(blocks('sh').join()) ?? []
    const gateway = await startGateway({
      basePath,
      createGuard: guardsOf(['local'], { trustedOrigins: ['http://localhost:5173'] }),
    })
    await gateway.load(SMALL_WORLD)
    const [, proxy = '{}'] = /proxy: (\{.*?\})/.exec(config) ?? []
    const targets = JSON.parse(proxy.replaceAll("'", '"').replaceAll('http://127.0.0.1:4000', gateway.url))
    const root = temporaryDirectory()
    writeFileSync(join(root, 'index.html'), '<h1>the page</h1>')
    const vite = await createServer({
      configFile: false,
      logLevel: 'silent',
      root,
      server: { host: '127.0.0.1', port: 0, ws: false, watch: null, proxy: targets },
    })
    onTestFinished(() => vite.close())
    await vite.listen()
    const [url = ''] = vite.resolvedUrls?.local ?? []

    async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
      const response = await fetch(`${url.slice(0, -1)}${basePath}${path}`, {
        method,
        headers: { origin: 'http://localhost:5173', ...(body && JSON_BODY), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    }

    const login = await ask('POST', '/login', { email: ANA })
    const { accessToken, refreshToken } = JSON.parse(login.text)
    const authorization = `Bearer ${accessToken}`
    for (const path of ['/projects', '/exports?r=site', '/templates', '/ui-libraries']) {
      const { status, text } = await ask('GET', path, undefined, { authorization })
      expect([path, status, text.at(0)]).toEqual([path, 200, '['])
    }
    const me = await ask('POST', '/graphql', { query: '{ me { email } }' }, { authorization })
    expect(JSON.parse(me.text)).toEqual({ data: { me: { email: ANA } } })
    expect((await ask('POST', '/token', { refreshToken })).text).toContain('"accessToken"')
    expect(await ask('DELETE', '/logout', { refreshToken })).toEqual({ status: 200, text: '{}' })

    const refused = await ask('POST', '/login', { email: ANA }, { origin: 'http://localhost:5174' })
    expect(refused).toEqual({ status: 403, text: expect.stringContaining('cors-origin') })
  })
})
