// Tests how the outbox retries a mail, and how it handles a code that it cannot read.
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { AuditEvent } from '../../src/auth/audit/audit-event.ts'
import { createDerivedCodes } from '../../src/auth/mail/derived-codes.ts'
import { createMailServer, MailError, type MailServer, type MailTls } from '../../src/auth/mail/mail-server.ts'
import { createOutbox } from '../../src/auth/mail/outbox.ts'
import { createCodeRequests } from '../../src/auth/mail/requests.ts'
import { reasonOf } from '../../src/errors.ts'
import type { OutboxMail, SettledMail } from '../../src/store/sign-in/code-contract.ts'
import { NO_AUDIT, openTestKeyset } from '../support/keyset.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { type MailServerOptions, startMailServer } from '../support/smtp.ts'
import { openTestStore } from '../support/sqlite-store.ts'

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

const MAIL: Omit<OutboxMail, 'id'> = {
  kid: 'k',
  email: 'ana@example.com',
  network: '192.0.2.1',
  agent: 'curl',
  askedAt: 0,
  expiresAt: 1_000_000,
  attempts: 1,
}

/** How the gateway sends. */
interface Sending {
  readonly userInfo?: string | undefined
  readonly tls?: MailTls | undefined
}

/**
 * Asks for a code and decides that it is mailed. `failures` and `waits` have the message of each failure and the pause
 * after it; null ends the attempts.
 */
async function askForMail(options: MailServerOptions, { userInfo = '', tls = 'off' }: Sending = {}) {
  let now = 1_000_000
  const clock = () => now
  const store = await openTestStore()
  onTestFinished(() => store[Symbol.asyncDispose]())
  const codes = createDerivedCodes(await openTestKeyset({ store, now: clock }))
  const server = await startMailServer(options)
  const requests = createCodeRequests({ store, codes, rules: RULES, domains: null, audit: NO_AUDIT, clock })
  await requests.add({ email: 'ana@example.com', network: '192.0.2.1', agent: 'curl' })
  expect(await requests.decide()).toBe(true)
  const [failures, waits]: [string[], (number | null)[]] = [[], []]
  const url = server.url.replace('//', `//${userInfo}`)
  const outbox = createOutbox({
    store,
    codes,
    server: createMailServer({ ...mailGuardOptions({ url }).server, tls }),
    audit: NO_AUDIT,
    clock,
    stop: new AbortController().signal,
    onFailure(error, retryMs) {
      failures.push(reasonOf(error))
      waits.push(retryMs)
    },
  })
  return {
    failures,
    waits,
    /** Sends what is due, and waits for the outcome. */
    async sendDue() {
      await outbox.sendDue(() => false)
      await outbox.finish()
    },
    advance(milliseconds: number) {
      now += milliseconds
    },
  }
}

test('a deferred mail is retried after 1 s, then after twice as long each time, at most a minute', async () => {
  const received: (readonly (string | undefined)[])[] = []
  const { waits, sendDue, advance } = await askForMail({
    onMail({ code, source }) {
      received.push([code, /^Message-ID: (.*)\r$/m.exec(source)?.[1]])
      throw Object.assign(new Error('later'), { responseCode: 451 })
    },
  })
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await sendDue()
    expect(waits).toHaveLength(attempt)
    const waitMs = waits.at(-1) ?? 0
    advance(waitMs - 1)
    await sendDue()
    expect(waits, 'a millisecond too early').toHaveLength(attempt)
    advance(1)
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  // A mailbox recognizes a second copy by its id.
  const copy = [expect.stringMatching(/^[0-9A-Z]{8}$/), expect.stringMatching(/^<[0-9a-f-]{36}@example\.com>$/)]
  expect(received[0]).toEqual(copy)
  expect(received).toEqual(Array.from({ length: 8 }, () => received[0]))
})

const refusal = () => Object.assign(new Error('no'), { responseCode: 550 })

test.each<[string, MailServerOptions & Sending, string, number | null]>([
  [
    'our connection',
    { onConnect: (_session, done) => done(Object.assign(new Error('blocked'), { responseCode: 554 })) },
    'the mail server does not accept the connection (it said 554)',
    1_000,
  ],
  [
    'TLS',
    { tls: 'required' },
    'the mail server offers no usable TLS (mail-tls off sends without it) (it said 500)',
    1_000,
  ],
  [
    'our user and password',
    {
      userInfo: 'gateway:secret@',
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(new Error('no')),
    },
    'the mail server does not accept the user and password (it said 535)',
    1_000,
  ],
  [
    'our address as the sender',
    { onMailFrom: (_address, _session, done) => done(refusal()) },
    'the mail server does not accept the sender or the recipient (it said 550)',
    1_000,
  ],
  [
    'the recipient',
    { onRcptTo: (_address, _session, done) => done(refusal()) },
    'the mail server does not accept the sender or the recipient (it said 550)',
    null,
  ],
])(
  'a mail whose server refuses %s for good is retried if the operator can mend that',
  async (_, options, why, waitMs) => {
    const { userInfo, tls, ...server } = options
    const { failures, waits, sendDue } = await askForMail(server, { userInfo, tls })
    await sendDue()
    expect([failures, waits]).toEqual([[why], [waitMs]])
  },
)

test('all requests that wait are decided together, however many they are', async () => {
  const clock = () => 1_000_000
  const store = await openTestStore()
  onTestFinished(() => store[Symbol.asyncDispose]())
  const codes = createDerivedCodes(await openTestKeyset({ store, now: clock }))
  const requests = createCodeRequests({ store, codes, rules: RULES, domains: null, audit: NO_AUDIT, clock })
  const emails = Array.from({ length: 501 }, (_, index) => `user${index}@example.com`)
  await Promise.all(emails.map((email) => requests.add({ email, network: '192.0.2.1', agent: 'curl' })))
  await requests.decide()
  expect(await store.decideCodeRequests(RULES, clock(), 1)).toEqual([])
})

test('a mail whose code is lost with its signing key is not sent, and not tried again', async () => {
  const settled: (readonly SettledMail[])[] = []
  const mails = [{ ...MAIL, id: 'lost' }]
  const outbox = createOutbox({
    store: {
      leaseMails: async () => mails.splice(0),
      settleMails: async (_owner, list) => void settled.push(list),
    },
    codes: { issue: neverAsked, hashOf: neverAsked, codeOf: async () => null },
    server: { send: neverAsked },
    audit: NO_AUDIT,
    clock: () => 0,
    stop: new AbortController().signal,
    onFailure: neverAsked,
  })
  await outbox.sendDue(() => false)
  await outbox.finish()
  expect(settled).toEqual([[{ id: 'lost', dueAt: null, isGivenUp: true }]])
})

/**
 * An outbox with these mails, and more that a test adds. `send` is the mail server. The first outcomes cannot be recorded.
 */
function outboxOf(mails: OutboxMail[], send: MailServer['send'], unrecorded = 0) {
  let failing = unrecorded
  const settled: string[] = []
  const told: AuditEvent[] = []
  const outbox = createOutbox({
    store: {
      leaseMails: async ({ limit }) => mails.splice(0, limit),
      async settleMails(_owner, [mail]) {
        failing -= 1
        if (failing >= 0) throw new Error('the database is away')
        settled.push(mail?.id ?? '')
      },
    },
    codes: {
      issue: neverAsked,
      hashOf: neverAsked,
      async codeOf(id) {
        if (id.startsWith('good')) return 'K7QM2P9D'
        throw new Error(`no code for ${id}`)
      },
    },
    server: { send },
    audit: { record: (event) => void told.push(event) },
    clock: () => 0,
    stop: new AbortController().signal,
    onFailure() {},
  })
  return { settled, told, sendDue: () => outbox.sendDue(() => false), finish: outbox.finish }
}

const mailsNamed = (...ids: readonly string[]) => ids.map((id) => ({ ...MAIL, id }))

test('each mail with an unreadable code is reported by the next run, and the others are sent and recorded', async () => {
  const sent = Promise.withResolvers<void>()
  const { settled, sendDue, finish } = outboxOf(mailsNamed('unreadable', 'good', 'gone'), () => sent.promise)
  await sendDue()
  let isFinished = false
  const finished = finish().then(() => {
    isFinished = true
  })
  await yieldTurn()
  expect([isFinished, settled]).toEqual([false, []])
  sent.resolve()
  await finished
  expect(settled).toEqual(['good'])
  expect(reasonOf(await sendDue().catch((error: unknown) => error))).toBe('no code for unreadable; no code for gone')
  await sendDue()
})

test('a mail that its server keeps waiting holds up no other, and at most four are sent at once', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `good ${index}`)
  const mails = mailsNamed('good but slow', ...names)
  const slow = Promise.withResolvers<void>()
  let [atOnce, mostAtOnce] = [0, 0]
  const { settled, sendDue, finish } = outboxOf(mails, async ({ id }) => {
    atOnce += 1
    mostAtOnce = Math.max(mostAtOnce, atOnce)
    await (id === 'good but slow' ? slow.promise : yieldTurn())
    atOnce -= 1
  })
  await sendDue()
  mails.push(...mailsNamed('good and late'))
  await sendDue()
  await expect.poll(() => settled.toSorted()).toEqual([...names, 'good and late'].toSorted())
  slow.resolve()
  await finish()
  expect(settled.at(-1)).toBe('good but slow')
  expect(mostAtOnce).toBe(4)
})

test('a mail whose lease ends while it is in flight is not sent again', async () => {
  const sent = Promise.withResolvers<void>()
  const mails = mailsNamed('good')
  let count = 0
  const { sendDue, finish } = outboxOf(mails, () => {
    count += 1
    return sent.promise
  })
  await sendDue()
  mails.push(...mailsNamed('good'))
  await sendDue()
  sent.resolve()
  await finish()
  expect(count).toBe(1)
})

test('a mail that was sent while the database was away is recorded later, and not sent again', async () => {
  let count = 0
  const send = async () => {
    count += 1
  }
  const { settled, sendDue, finish } = outboxOf(mailsNamed('good'), send, 1)
  await sendDue()
  await finish()
  expect([count, settled]).toEqual([1, ['good']])
  await sendDue()
})

test('the audit log has each attempt to send a mail', async () => {
  let attempts = 0
  const send = async () => {
    attempts += 1
    if (attempts === 1) throw new MailError('no', false)
  }
  const mails = mailsNamed('good')
  const { told, sendDue, finish } = outboxOf(mails, send)
  while (attempts < 2) {
    await sendDue()
    await finish()
    mails.push(...mailsNamed('good'))
  }
  const about = { kind: 'code', email: MAIL.email, address: MAIL.network }
  expect(told).toEqual([
    { ...about, result: 'failed', detail: 'not sent' },
    { ...about, result: 'done', detail: 'sent' },
  ])
})

async function neverAsked(): Promise<never> {
  throw new Error('nobody asks for this')
}
