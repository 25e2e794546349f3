// Tests how the outbox retries a mail, and how it handles a code that it cannot read.
import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { NO_AUDIT } from '../../src/auth/audit/audit-event.ts'
import { createDerivedCodes } from '../../src/auth/mail/derived-codes.ts'
import { createMailServer } from '../../src/auth/mail/mail-server.ts'
import { createOutbox } from '../../src/auth/mail/outbox.ts'
import { createCodeRequests } from '../../src/auth/mail/requests.ts'
import { reasonOf } from '../../src/errors.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { startMailServer } from '../support/smtp.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const RULES = {
  windowMs: 3_600_000,
  codeTtlMs: 600_000,
  knownNetworkTtlMs: 3_600_000,
  isForKnownUsersOnly: false,
  maxPerAddressAndNetwork: 5,
  maxPerAddress: 5,
  maxPerNetwork: 5,
  maxTotal: 5,
}

test('a deferred mail is retried after 1 s, then after twice as long each time, at most a minute', async () => {
  let now = 1_000_000
  const clock = () => now
  await using store = await openSqliteStore(join(temporaryDirectory(), 'store.db'), {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
  const codes = createDerivedCodes(await openTestKeyset({ store, now: clock }))
  const received: string[] = []
  const server = await startMailServer({
    onMail({ code }) {
      received.push(code)
      throw Object.assign(new Error('later'), { responseCode: 451 })
    },
  })
  const requests = createCodeRequests({ store, codes, rules: RULES, domains: null, audit: NO_AUDIT, clock })
  await requests.add({ email: 'ana@example.com', network: '192.0.2.1', agent: 'curl' })
  expect(await requests.decide()).toBe(true)
  const waits: (number | null)[] = []
  const sendDue = createOutbox({
    store,
    codes,
    server: createMailServer(mailGuardOptions(server).server),
    audit: NO_AUDIT,
    clock,
    stop: new AbortController().signal,
    onFailure: (_error, retryMs) => waits.push(retryMs),
  })
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await sendDue(() => false)
    expect(waits).toHaveLength(attempt)
    const waitMs = waits.at(-1) ?? 0
    now += waitMs - 1
    await sendDue(() => false)
    expect(waits, 'a millisecond too early').toHaveLength(attempt)
    now += 1
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  expect(new Set(received).size).toBe(1)
})

test('each mail with an unreadable code is reported, after the others are sent and recorded', async () => {
  const sent = Promise.withResolvers<void>()
  const settled: string[] = []
  const mails = ['unreadable', 'good', 'gone'].map((id) => ({
    id,
    kid: 'k',
    email: `${id}@example.com`,
    network: '192.0.2.1',
    agent: 'curl',
    askedAt: 0,
    expiresAt: 1_000_000,
    attempts: 1,
  }))
  const run = createOutbox({
    store: {
      leaseMails: async () => mails.splice(0),
      async settleMails(_owner, [mail]) {
        settled.push(mail?.id ?? '')
      },
    },
    codes: {
      issue: neverAsked,
      hashOf: neverAsked,
      async codeOf(id) {
        if (id === 'good') return 'K7QM2P9D'
        throw new Error(`no code for ${id}`)
      },
    },
    server: { send: () => sent.promise },
    audit: NO_AUDIT,
    clock: () => 0,
    stop: new AbortController().signal,
    onFailure() {},
  })
  let hasEnded = false
  const outcome = run(() => false)
    .catch((error: unknown) => error)
    .finally(() => {
      hasEnded = true
    })
  await yieldTurn()
  expect([hasEnded, settled]).toEqual([false, []])
  sent.resolve()
  expect(reasonOf(await outcome)).toBe('no code for unreadable; no code for gone')
  expect(settled).toEqual(['good'])
})

async function neverAsked(): Promise<never> {
  throw new Error('nobody asks for this')
}
