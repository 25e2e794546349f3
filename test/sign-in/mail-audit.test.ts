// Tests what the guard `mail` records in the audit log.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { AuditEvent } from '../../src/auth/audit/audit-event.ts'
import { openMailGuard } from '../../src/auth/guards/mail/open-mail-guard.ts'
import { NO_RATE_LIMITS } from '../../src/auth/limits/rate-limits.ts'
import { openStore } from '../../src/store/open-store.ts'
import { callerWith } from '../support/callers.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { startMailServer } from '../support/smtp.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

const WRONG = 'K7QM2P9D'

test('the audit log records code requests, mails and wrong codes, but no code', async () => {
  const store = await openStore(`file:${join(temporaryDirectory(), 'workspace.db')}`, {
    lockTimeoutMs: 5_000,
    connectTimeoutMs: 1,
    statementTimeoutMs: 1,
    poolSize: 2,
    onFatal() {},
  })
  const running = new AsyncDisposableStack()
  onTestFinished(async () => {
    await running.disposeAsync()
    await store[Symbol.asyncDispose]()
  })
  const server = await startMailServer()
  const events: AuditEvent[] = []
  const guard = openMailGuard(mailGuardOptions(server, { domains: ['example.com'] }), {
    store,
    keyset: await openTestKeyset({ store, now: Date.now }),
    limits: NO_RATE_LIMITS,
    audit: { record: (event) => events.push(event) },
    clock: Date.now,
    report() {},
    running,
  })
  const decide = (email: string, code: string | null, address = '2001:db8:1:2:3::4') =>
    guard.decide({ email, code, caller: callerWith({ client: { address } }) })
  await decide('ana@example.org', null)
  await decide(ANA, null)
  const { code } = await server.mail(0)
  await decide(ANA, WRONG)
  // From another network, where no code is pending for this email, the text is an email like any other.
  const tagged = ANA.replace('@', `+code-${code.toLowerCase()}@`)
  await decide(tagged, null, '2001:db8:1:3::4')
  await server.mail(1)
  await decide(tagged, WRONG)
  expect((await decide(ANA, code)).outcome).toBe('admitted')
  await running.disposeAsync()
  const told = events.map(({ kind, result, email, detail }) => `${kind} ${result} ${email}: ${detail}`)
  expect(told.toSorted()).toEqual([
    `code done ${ANA}: sent`,
    `code done ${ANA}: sent`,
    `code refused ${ANA}: wrong code`,
    `code refused ${ANA}: wrong code`,
    `codeRequest done ${ANA}: mailed`,
    `codeRequest done ${ANA}: mailed`,
    'codeRequest refused ana@example.org: refused',
  ])
  expect(new Set(events.map(({ address }) => address))).toEqual(new Set(['2001:db8:1:2::', '2001:db8:1:3::']))
  expect(JSON.stringify(events).toUpperCase()).not.toContain(code)
  expect(JSON.stringify(events)).not.toContain(WRONG)
})
