// Tests what strangers may try against the guard `mail`. With TEST_SIGN_IN=all (npm run test:sign-in), it tries as
// often as they would, and prints what it measured.
import { expect, test } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import type { MailGuardOptions } from '../../src/auth/guards/mail/open-mail-guard.ts'
import type { CodeComparison } from '../../src/store/sign-in/code-contract.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { startMailServer, type TestMailServer } from '../support/smtp.ts'
import { ANA } from '../support/workspaces.ts'

const IS_FULL = process.env.TEST_SIGN_IN === 'all'
const GUESSES = IS_FULL ? 100_000 : 500
const [REQUESTS, NETWORKS] = IS_FULL ? [10_000, 1_000] : [400, 40]
const TIMED = IS_FULL ? 2_000 : 20
const AT_ONCE = 100
const PROXY = '127.0.0.1'
const HOME = '203.0.113.7'

interface Started {
  readonly gateway: TestGateway
  readonly server: TestMailServer
  /** Sends a login as the trusted proxy would, for a client at this address. */
  readonly login: (from: string, body: object) => Promise<{ readonly status: number; readonly code: unknown }>
}

async function start(options: TestGatewayOptions = {}, rules: Partial<MailGuardOptions> = {}): Promise<Started> {
  const server = await startMailServer()
  const wide = { domains: ['example.com'], maxPerNetwork: 100_000, maxTotal: 100_000 }
  const mail = mailGuardOptions(server, { ...wide, ...rules })
  const gateway = await startGateway({
    createGuard: guardsOf(['mail'], { trustedOrigins: [], mail }),
    attemptsPerMinute: null,
    trustedProxies: [PROXY],
    ...options,
  })
  return {
    gateway,
    server,
    async login(from, body) {
      const answer = await gateway.send('POST', '/login', JSON.stringify(body), {
        'content-type': 'application/json',
        'x-forwarded-for': from,
      })
      return { status: answer.status, code: answer.json().code }
    },
  }
}

/** Runs `count` calls, `AT_ONCE` at a time. */
async function inParallel(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) {
        next += 1
        await run(next - 1)
      }
    }),
  )
}

test('at most five guesses at one login are compared, wherever they come from', {
  timeout: 600_000,
}, async () => {
  const compared: CodeComparison[] = []
  const { gateway, server, login } = await start({
    wrapStore: (store) => ({
      ...store,
      async tryCode(guess, now) {
        const comparison = await store.tryCode(guess, now)
        if (comparison !== 'spent') compared.push(comparison)
        return comparison
      },
    }),
  })
  await login(HOME, { email: ANA })
  const { code } = await server.mail(0)
  const answers = new Set<unknown>()
  await inParallel(GUESSES, async (index) => {
    const guess = index.toString(16).padStart(8, '0')
    const from = index % 2 === 0 ? HOME : `198.51.100.${index % 250}`
    answers.add((await login(from, { email: ANA, code: guess === code ? 'ZZZZZZZZ' : guess })).code)
  })
  expect([...answers]).toEqual(['LOGIN_CODE_WRONG'])
  expect(compared).toEqual(Array.from({ length: 5 }, () => 'wrong'))
  expect((await login(HOME, { email: ANA, code })).code).toBe('LOGIN_CODE_WRONG')
  expect((await gateway.store.pendingSignIn(ANA, HOME, gateway.now()))?.triesLeft).toBe(0)
  // The owner is not locked out: another request brings another code.
  await login(HOME, { email: ANA })
  expect((await login(HOME, { email: ANA, code: (await server.mail(1)).code })).status).toBe(200)
})

test('a flood of requests neither fills a mailbox nor locks its owner out of a network they know', {
  timeout: 600_000,
}, async () => {
  const { server, login } = await start()
  await login(HOME, { email: ANA })
  expect((await login(HOME, { email: ANA, code: (await server.mail(0)).code })).status).toBe(200)
  const networkOf = (index: number) => `10.${Math.floor(index / 250)}.1.${index % 250}`
  await inParallel(REQUESTS, async (index) => {
    expect((await login(networkOf(index % NETWORKS), { email: ANA })).code).toBe('LOGIN_CODE_SENT')
  })
  await login(HOME, { email: ANA })
  const isHome = ({ source }: { readonly source: string }) => source.includes(HOME)
  for (let index = 1; server.mails.filter(isHome).length < 2; index += 1) await server.mail(index)
  const last = server.mails.filter(isHome).at(-1)
  expect((await login(HOME, { email: ANA, code: last?.code })).status).toBe(200)
  expect(server.mails.length).toBeLessThanOrEqual(20)
  if (IS_FULL) console.info(`${REQUESTS} requests from ${NETWORKS} networks: ${server.mails.length} mails`)
})

test('known, unknown and refused emails get the same error code', { timeout: 600_000 }, async () => {
  const { gateway, login } = await start({}, { isForKnownUsersOnly: true })
  const document = { kind: 'project', data: { id: 'p', ref: 'r' } }
  const known = Array.from({ length: TIMED }, (_, index) => `known${index}@example.com`)
  await gateway.load(known.map((email) => JSON.stringify({ ...document, email })).join('\n'))
  const groups = {
    known: (index: number) => known[index] ?? ANA,
    unknown: (index: number) => `unknown${index}@example.com`,
    refused: (index: number) => `refused${index}@example.org`,
  }
  const times = new Map(Object.keys(groups).map((name) => [name, [] as number[]]))
  for (let index = 0; index < TIMED; index += 1) {
    for (const [name, emailOf] of Object.entries(groups)) {
      const before = performance.now()
      const { code } = await login(`10.0.${Math.floor(index / 250)}.${index % 250}`, { email: emailOf(index) })
      times.get(name)?.push(performance.now() - before)
      expect(code).toBe('LOGIN_CODE_SENT')
    }
  }
  const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)]?.toFixed(2)
  if (IS_FULL)
    console.info(`medians of ${TIMED}: ${[...times].map(([name, of]) => `${name} ${median(of)} ms`).join(', ')}`)
})
