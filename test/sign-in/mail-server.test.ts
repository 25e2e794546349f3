// Tests the command `mail test`, what serve logs about mails, and how it stops while a mail server does not answer.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAuthority } from '../support/certificates.ts'
import { run, runHere, serveForTest } from '../support/command-line.ts'
import { startMailServer } from '../support/smtp.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const FROM = ['--mail-from', 'no-reply@example.com']
const PASSWORD = 'pa:ss/w@rd%'
const ESCAPED = encodeURIComponent(PASSWORD)

/** Starts a server that requires a user, over TLS, with a certificate of its own authority. */
async function startTlsServer(secure: boolean) {
  const authority = createAuthority('a test')
  const { certificate, key } = authority.sign('mail', ['localhost', '127.0.0.1'])
  const logins: string[] = []
  const server = await startMailServer({
    secure,
    key,
    cert: certificate,
    disabledCommands: [],
    authOptional: false,
    onAuth({ username, password }, _session, callback) {
      logins.push(`${username} ${password}`)
      if (password === PASSWORD) callback(null, { user: username })
      else callback(new Error(`invalid password ${password}`))
    },
  })
  const ca = join(temporaryDirectory(), 'ca.pem')
  writeFileSync(ca, authority.certificate)
  return { server, logins, env: { NODE_EXTRA_CA_CERTS: ca } }
}

describe('mail test', () => {
  test('sends a mail and says so', async () => {
    const server = await startMailServer()
    const { exitCode, stdout, stderr } = await runHere([
      ...['mail', 'test', 'Ana@Example.com', '--mail-url', server.url, '--mail-tls', 'off'],
      ...['--mail-from', 'Workspace <no-reply@example.com>', '--mail-subject', 'A test'],
    ])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^sent/)
    const { to, source } = await server.mail(0)
    expect(to).toBe('ana@example.com')
    expect(source).toContain('Subject: A test')
  })

  test.each([
    ['Acme: Sales, EU <no-reply@example.com>', '"Acme: Sales, EU" <no-reply@example.com>'],
    ['"Acme, Inc." <no-reply@example.com>', '"Acme, Inc." <no-reply@example.com>'],
    ['no-reply@bücher.example', 'no-reply@xn--bcher-kva.example'],
  ])('writes the sender %s as one address, and only ASCII into the headers', async (from, written) => {
    const server = await startMailServer()
    const args = ['mail', 'test', 'ana@example.com', '--mail-url', server.url, '--mail-tls', 'off', '--mail-from', from]
    expect((await runHere(args)).exitCode).toBe(0)
    const { source } = await server.mail(0)
    const head = source.slice(0, source.indexOf('\r\n\r\n'))
    expect(head).toContain(`From: ${written}\r\n`)
    expect(head).toMatch(/^Message-ID: <[^@\s]+@[\w.-]+>\r$/m)
    expect(head).toMatch(/^[\x20-\x7e\r\n]+$/)
  })

  test.each([
    [true, 'smtps'],
    [false, 'smtp'],
  ])(
    'signs in over TLS (implicit: %s), and refuses a server whose certificate is not trusted',
    async (secure, scheme) => {
      const { server, logins, env } = await startTlsServer(secure)
      const url = `${scheme}://ana:${ESCAPED}@127.0.0.1:${server.port}`
      const args = ['mail', 'test', 'ana@example.com', ...FROM]
      const environment = { WORKSPACE_GATEWAY_MAIL_URL: url }
      const distrusted = await run(args, { env: environment })
      expect([distrusted.exitCode, logins, server.mails]).toEqual([1, [], []])
      expect(distrusted.stderr).toContain('failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)')
      const sent = await run(args, { env: { ...environment, ...env } })
      expect([sent.exitCode, sent.stderr]).toEqual([0, ''])
      expect(logins).toEqual([`ana ${PASSWORD}`])
      const wrong = url.replace(ESCAPED, 'another-secret')
      const refused = await run(args, { env: { WORKSPACE_GATEWAY_MAIL_URL: wrong, ...env } })
      expect(refused.exitCode).toBe(1)
      expect(refused.stderr).toContain('does not accept the user and password')
      for (const { stdout, stderr } of [distrusted, sent, refused]) {
        expect(stdout + stderr).not.toContain('another-secret')
        expect(stdout + stderr).not.toContain(ESCAPED)
        expect(stdout + stderr).not.toContain('@example.com')
      }
    },
  )

  test('sends nothing without TLS unless configured to', async () => {
    const server = await startMailServer()
    const { exitCode, stderr } = await runHere(['mail', 'test', 'ana@example.com', '--mail-url', server.url, ...FROM])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('mail-tls')
    expect(server.mails).toEqual([])
  })

  test('sends without TLS if configured to, also to a server that offers it with a certificate of its own', async () => {
    const server = await startMailServer({ disabledCommands: [] })
    const args = ['mail', 'test', 'ana@example.com', '--mail-url', server.url, ...FROM]
    expect((await runHere([...args, '--mail-tls', 'off'])).exitCode).toBe(0)
    expect(server.mails).toHaveLength(1)
    // Otherwise the certificate counts.
    expect((await runHere(args)).exitCode).toBe(1)
  })

  test('shows the status code of the server, and does not show the email', async () => {
    const server = await startMailServer({
      onRcptTo({ address }, _session, callback) {
        callback(Object.assign(new Error(`no mailbox ${address}`), { responseCode: 550 }))
      },
    })
    const { exitCode, stderr } = await runHere([
      ...['mail', 'test', 'ana@example.com', '--mail-url', server.url, '--mail-tls', 'off', ...FROM],
    ])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('550')
    expect(stderr).not.toContain('ana')
  })

  test('reports a server that cannot be reached, and one that closes the connection', async () => {
    const server = createServer((socket) => void socket.end('220 mail.example.com\r\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const args = ['mail', 'test', 'ana@example.com', '--mail-url', `smtp://127.0.0.1:${port}`, ...FROM]
    const closing = await runHere(args)
    server.close()
    const gone = await runHere(args)
    expect([closing.exitCode, gone.exitCode]).toEqual([1, 1])
    expect(closing.stderr).toBe('not sent: the mail server closed the connection\n')
    expect(gone.stderr).toBe('not sent: the connection to the mail server failed (ECONNREFUSED)\n')
  })

  test.each([
    [['--mail-url', 'smtp://ana:top-secret@host:99999']],
    [['--mail-url', 'https://ana:top-secret@mail.example.com']],
    [['--mail-url', 'smtp://ana:top-secret@mail.example.com/?x=1']],
    [['--mail-url', 'smtp://ana:top-secret%@mail.example.com']],
    [['--mail-url', 'smtp://ana:top-secret%ff@mail.example.com', ...FROM]],
    [['--mail-from', 'nobody']],
    [['--mail-subject', 'two\nlines']],
    [['--mail-tls', 'maybe']],
  ])('refuses %j, and does not repeat the password', async (args) => {
    const { exitCode, stderr } = await runHere(['mail', 'test', 'ana@example.com', ...args])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(args[0])
    expect(stderr).not.toContain('top-secret')
  })

  test('needs a server, a sender and a valid email', async () => {
    for (const args of [['ana@example.com'], ['nobody', '--mail-url', 'smtp://127.0.0.1', ...FROM]]) {
      expect((await runHere(['mail', 'test', ...args])).exitCode).toBe(2)
    }
  })
})

describe('serve', () => {
  test('with the guard "mail" and no mail server does not start, and says what to configure', async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const { exitCode, stderr } = await runHere([
      'serve',
      '--port',
      '0',
      '--login-guard',
      'mail',
      '--database',
      database,
    ])
    expect(exitCode).toBe(2)
    for (const advice of ['mail-url', 'mail-from']) expect(stderr).toContain(advice)
  })

  test('logs no code, no email and no password, also when mails fail', async () => {
    const seen: string[] = []
    const server = await startMailServer({
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) => callback(null, { user: 'ana' }),
      onMail({ code }) {
        seen.push(code)
        if (seen.length === 1) throw Object.assign(new Error('ana@example.com later'), { responseCode: 451 })
      },
    })
    const url = server.url.replace('//', '//ana:top-secret@')
    const serving = await serveForTest(
      [
        ...['--login-guard', 'mail', '--mail-url', url, '--mail-tls', 'off', '--log-level', 'debug'],
        ...FROM,
        '--no-demo',
      ],
      { cwd: temporaryDirectory() },
    )
    const login = (body: object) =>
      fetch(`${serving.url}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    expect((await login({ email: 'ana@example.com' })).status).toBe(403)
    const { code } = await server.mail(0)
    expect((await login({ email: 'ana@example.com', code: 'K7QM2P9D' })).status).toBe(403)
    expect((await login({ email: 'ana@example.com', code })).status).toBe(200)
    expect(await serving.kill('SIGTERM')).toBe(0)
    const output = serving.stdout() + serving.stderr()
    expect(output).toContain('tried again')
    for (const secret of [code, 'K7QM2P9D', 'ana@', 'top-secret']) expect(output).not.toContain(secret)
  })
})

test('a mail server that does not answer delays no shutdown, and the mail is sent after a restart', async () => {
  const held = Promise.withResolvers<void>()
  const silent = createServer(() => held.resolve())
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const cwd = temporaryDirectory()
  const args = (url: string) => ['--login-guard', 'mail', '--mail-url', url, '--mail-tls', 'off', '--no-demo', ...FROM]
  const first = await serveForTest(args(`smtp://127.0.0.1:${port}`), { cwd })
  const body = JSON.stringify({ email: 'ana@example.com' })
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${first.url}/login`, { method: 'POST', headers, body })).status).toBe(403)
  await held.promise
  expect(await first.kill('SIGTERM')).toBe(0)
  // The sending was aborted by the shutdown, not by its own timeout.
  expect(first.stderr()).toContain('the gateway stopped before the mail server answered')
  expect(first.stderr()).toContain('will be tried again')
  const server = await startMailServer()
  await serveForTest(args(server.url), { cwd })
  expect((await server.mail(0)).to).toBe('ana@example.com')
})
