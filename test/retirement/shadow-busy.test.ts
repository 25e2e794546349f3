// Tests an old server that is busy: the shadow leaves it alone for as long as it asks, and passes that time on to
// clients.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere, serveHereForTest } from '../support/command-line.ts'
import { ask, bearer } from '../support/gateway.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

async function start(...args: readonly string[]) {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
  const old = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const gateway = await serveHereForTest(['--database', database, '--shadow', old.url, ...args])
  return {
    old,
    /** Signs this user in and returns a function that reads. */
    async signIn(email: string) {
      const headers = { 'content-type': 'application/json' }
      const { accessToken } = (
        await ask(`${gateway.url}/login`, { method: 'POST', headers, body: JSON.stringify({ email }) })
      ).json()
      return (path: string) => ask(`${gateway.url}${path}`, { headers: bearer(accessToken) })
    },
    async metrics(): Promise<string> {
      const admin = /"url":"(\S+?)","msg":"metrics and health/.exec(gateway.stderr())?.[1]
      return (await ask(`${admin}/metrics`)).text
    },
    async stop(): Promise<string> {
      expect(await gateway.kill('SIGTERM')).toBe(0)
      await old[Symbol.asyncDispose]()
      return gateway.stderr()
    },
  }
}

/** Answers requests for this path like this from now on. Returns a list that collects them. */
function keepBusy(old: PlainServer, path: string, status: number, retryAfter: string): readonly string[] {
  const refused: string[] = []
  old.setIntercept(({ method, url }, response) => {
    if (url?.split('?')[0] !== `/v1${path}`) return false
    refused.push(`${method} ${url}`)
    response.writeHead(status, { 'retry-after': retryAfter }).end()
    return true
  })
  return refused
}

/** Returns the status, the code, and the seconds after which the client may retry. */
const refusal = ({ status, json, headers }: Awaited<ReturnType<typeof ask>>) => ({
  told: [status, json().code],
  seconds: Number(headers.get('retry-after')),
})

test.each([429, 503])(
  'with --answer-from old, a login that gets %i is retried only after its Retry-After, which clients get too',
  async (status) => {
    const { old, signIn, stop } = await start('--answer-from', 'old', '--shadow-sample', '0')
    const refused = keepBusy(old, '/login', status, '250')
    const read = await signIn(ANA)
    for (let count = 0; count < 5; count += 1) {
      const { told, seconds } = refusal(await read('/projects'))
      expect(told).toEqual([503, 'UNAVAILABLE'])
      expect([seconds > 1, seconds <= 250]).toEqual([true, true])
    }
    expect(refused).toHaveLength(1)
    // Her limit does not affect other users.
    old.setIntercept(null)
    expect((await (await signIn(BEN))('/projects')).status).toBe(200)
    expect((await read('/projects')).status).toBe(503)
    expect(await stop()).toContain(`"reason":"POST /login answered ${status}"`)
  },
)

test('a Retry-After counts as at most five minutes and at least a second, and then the login is retried', async () => {
  const { old, signIn, stop } = await start('--answer-from', 'old', '--shadow-sample', '0')
  keepBusy(old, '/login', 429, '86400')
  const [readOfAna, readOfBen] = [await signIn(ANA), await signIn(BEN)]
  expect(refusal(await readOfAna('/projects'))).toEqual({ told: [503, 'UNAVAILABLE'], seconds: 300 })
  keepBusy(old, '/login', 429, '0')
  expect(refusal(await readOfBen('/projects')).seconds).toBe(1)
  old.setIntercept(null)
  await expect.poll(async () => (await readOfBen('/projects')).status).toBe(200)
  await stop()
})

test('comparisons also leave a busy server alone, and are counted as skipped', async () => {
  const { old, signIn, metrics, stop } = await start('--admin-port', '0')
  const refused = keepBusy(old, '/login', 429, '250')
  const read = await signIn(ANA)
  for (let count = 0; count < 5; count += 1) expect((await read('/projects')).status).toBe(200)
  await expect.poll(metrics).toContain('workspace_gateway_shadow_comparisons_total{outcome="oldAway"} 5')
  expect(refused).toHaveLength(1)
  await stop()
})

test('a token renewal that gets 429 does not end the session at the old server', async () => {
  const { old, signIn, stop } = await start('--answer-from', 'old', '--shadow-sample', '0')
  const read = await signIn(ANA)
  expect((await read('/projects')).status).toBe(200)
  old.setIntercept(({ url }, response) => {
    if (url === '/v1/token') response.writeHead(429, { 'retry-after': '1' }).end()
    else if (url === '/v1/templates') response.writeHead(401).end()
    else return false
    return true
  })
  expect(refusal(await read('/templates'))).toEqual({ told: [503, 'UNAVAILABLE'], seconds: 1 })
  old.setIntercept(null)
  await expect.poll(async () => (await read('/templates')).status).toBe(200)
  expect(old.requests.filter(({ path }) => path === '/login')).toHaveLength(1)
  expect(old.openSessions()).toBe(1)
  await stop()
})

test('a read that gets 429 or 503 passes its time on; a 503 of one read does not hold others back', async () => {
  const { old, signIn, stop } = await start('--answer-from', 'old', '--shadow-sample', '0')
  const read = await signIn(ANA)
  keepBusy(old, '/exports', 503, '40')
  expect(refusal(await read('/exports?r=site'))).toEqual({ told: [503, 'UNAVAILABLE'], seconds: 40 })
  expect((await read('/projects')).status).toBe(200)
  const refused = keepBusy(old, '/projects', 429, '250')
  for (let count = 0; count < 3; count += 1) expect((await read('/projects')).status).toBe(503)
  expect(refused).toEqual(['GET /v1/projects'])
  await stop()
})
