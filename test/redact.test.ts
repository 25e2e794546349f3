// Tests that secrets are redacted from texts and log lines, in linear time.
import { expect, test } from 'vitest'
import { refuse } from '../src/auth/guards/guard.ts'
import { createReport } from '../src/cli/log.ts'
import { excerpt, redact } from '../src/redact.ts'
import { startGateway } from './support/gateway.ts'
import { logInMemory } from './support/log-in-memory.ts'
import { ANA } from './support/workspaces.ts'

test.each([
  ['nothing secret', 'nothing secret'],
  ['mail ana@example.com, please', 'mail [email], please'],
  ['<ana@example.com>(ben@example.com)', '<[email]>([email])'],
  ['"ana@example.com":"ben@example.com"', '"[email]":"[email]"'],
  ['a@b@c', '[email]@c'],
  ['@ a@ @b a @ b @@', '@ a@ @b a @ b @@'],
  ['wgr_abc-_9 and wgr_', '[token] and [token]'],
  ['Bearer eyJhbGciOi.eyJzdWIi.c2ln!', 'Bearer [token]!'],
  ['postgres://gateway:pass-word@db/workspace', 'postgres://gateway:[email]'],
  ['postgres://gateway:pass,(w"ord);@db/workspace', 'postgres://gateway:[email]'],
  ['postgres://gateway@db/workspace', 'postgres:[email]'],
  ['use postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME', 'use postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME'],
  ['smtp://USER:PASSWORD@HOSTS and PASSWORD@HOST.org', 'smtp://USER:[email] and [email]'],
  ['', ''],
])('%j is redacted to %j', (text, shown) => {
  expect(redact(text)).toBe(shown)
})

test('a log line contains no secret, wherever in an error the secret is', () => {
  const { log, written } = logInMemory()
  const secrets = ['wgr_abcdefgh', 'eyJhbGciOi.eyJzdWIi.c2ln', 'ana@example.com', 'hunter2']
  const text = `${secrets.slice(0, 3).join(' ')} postgres://gateway:hunter2@db/workspace`
  const report = createReport(log, () => 0)
  report(new Error(text, { cause: new Error(text) }))
  report(text)
  expect(written().trim().split('\n')).toHaveLength(2)
  expect(written().match(/\[token\]/g)?.length).toBeGreaterThan(4)
  for (const secret of secrets) expect(written()).not.toContain(secret)
})

test('an error that is its own cause, or has hundreds of them, has one line of a few causes', () => {
  const { log, written } = logInMemory()
  const circle = new Error('circle')
  circle.cause = new Error('back', { cause: circle })
  let long = new Error('first')
  for (let n = 0; n < 500; n += 1) long = new Error('next', { cause: long })
  for (const err of [circle, long]) log.error({ err }, 'failed')
  const lines = written().trim().split('\n')
  expect(lines).toHaveLength(2)
  for (const line of lines) expect(line.match(/"cause":/g)).toHaveLength(8)
})

test('excerpt keeps a short text whole, and cuts a long one after its last whole word', () => {
  expect(excerpt('x'.repeat(512))).toBe('x'.repeat(512))
  expect(excerpt(`Cannot query field "${'x'.repeat(600)}"`)).toBe('Cannot query field …')
  expect(excerpt('x'.repeat(513))).toBe('…')
  expect(excerpt('one two three', 9)).toBe('one two …')
})

test.each(['a', 'a@', '@', '//a', '//a:', '//:', ':', 'eyJ', 'eyJ.', 'wgr_', 'a.'])(
  'redacting a long text of nothing but %j takes linear time',
  (part) => {
    const started = performance.now()
    redact(part.repeat(200_000))
    redact(`${part.repeat(200_000)}!`)
    // Quadratic time took a minute.
    expect(performance.now() - started).toBeLessThan(10_000)
  },
)

test.each([
  ['a field of 200,000 letters', `{ ${'a'.repeat(200_000)} }`],
  ['a fragment of 200,000 letters', `{ ...${'a'.repeat(200_000)} }`],
  ['a variable of 200,000 letters', `{ me { project(ref: $${'a'.repeat(200_000)}) { id } } }`],
  ['an unexpected word of 200,000 letters', `{ me } ${'a'.repeat(200_000)}`],
  [
    'many fields of 10,000 letters',
    `{ ${Array.from({ length: 20 }, (_, at) => `${'a'.repeat(10_000)}${at}`).join(' ')} }`,
  ],
])('a document with %s is answered in time, and the error does not repeat it', async (_name, query) => {
  const gateway = await startGateway()
  const { accessToken } = await gateway.login(ANA)
  const started = performance.now()
  const answer = await gateway.graphql(query, { accessToken })
  expect(performance.now() - started).toBeLessThan(5_000)
  expect(answer.status).toBe(200)
  expect(answer.json().errors[0].message).toBeTruthy()
  for (const { message } of answer.json().errors) expect(message.length).toBeLessThanOrEqual(513)
})

test('the text of a failure contains no secret, over REST and GraphQL', async () => {
  const secrets = [ANA, 'wgr_abcdefgh']
  const createGuard = async () => ({ name: 'none', decide: () => refuse(`for ${secrets.join(' and ')}`, null) })
  const gateway = await startGateway({ createGuard })
  const failures = [
    (await gateway.send('POST', '/login', JSON.stringify({ email: ANA }))).text,
    (await gateway.graphql(`mutation { login(email: "${ANA}") { accessToken } }`)).text,
  ]
  for (const text of failures) {
    expect(text).toContain('for [email] and [token]')
    for (const secret of secrets) expect(text).not.toContain(secret)
  }
  // A token in the place of a document is the name of a field that there is not.
  const { text } = await gateway.graphql('{ wgr_abcdefgh }')
  expect(text).toContain('[token]')
  expect(text).not.toContain('wgr_abcdefgh')
})
