// Tests that no mail of the outbox is lost or sent twice when the gateway is killed.
import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { serve } from '../support/command-line.ts'
import { startMailServer } from '../support/smtp.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const EMAILS = Array.from({ length: 12 }, (_, index) => `user${index}@example.com`)
/**
 * The server accepts this many mails before the kill. The next ones have arrived there, but are not accepted yet, when
 * the kill comes.
 */
const TAKEN = 4

test('kill -9 loses no mail and repeats no mail that was recorded as accepted', async () => {
  const cwd = temporaryDirectory()
  const held = Promise.withResolvers<void>()
  let isHolding = true
  let reached = 0
  const server = await startMailServer({
    async onMail() {
      reached += 1
      if (!isHolding || reached <= TAKEN) return
      held.resolve()
      // The sender of these mails gets no reply: the server drops them with the connection.
      await new Promise(() => {})
    },
  })
  const args = [
    ...['--login-guard', 'mail', '--mail-url', server.url, '--mail-tls', 'off', '--no-demo'],
    ...['--mail-from', 'no-reply@example.com'],
  ]
  const login = (url: string, body: object) =>
    fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  const first = await serve(args, { cwd })
  for (const email of EMAILS) expect((await login(first.url, { email })).status).toBe(403)
  await held.promise
  using database = openHand(join(cwd, 'data', 'workspace.db'))
  while (database.unsent() > EMAILS.length - TAKEN) await yieldTurn()
  await first.kill('SIGKILL')
  expect(server.mails).toHaveLength(TAKEN)
  isHolding = false
  database.endLeases()

  const second = await serve(args, { cwd })
  try {
    const last = await server.mail(EMAILS.length - 1)
    expect((await login(second.url, { email: last.to, code: last.code })).status).toBe(200)
    expect(server.mails.map(({ to }) => to).toSorted()).toEqual(EMAILS.toSorted())
  } finally {
    await second.kill('SIGKILL')
  }
})

function openHand(path: string) {
  const database = new Database(path)
  const unsent = database.prepare('select (select count(*) from outbox) + (select count(*) from code_request)').pluck()
  return {
    unsent: () => Number(unsent.get()),
    /** Makes the leases in the outbox expire, as after a minute. */
    endLeases: () => database.exec('update outbox set due_at = 0'),
    [Symbol.dispose]: () => database.close(),
  }
}
