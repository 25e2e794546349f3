// Tests the guard `mail`: its codes, the mails that carry them, and what a stranger can learn or do.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { guardsOf } from '../../src/auth/guards/guards.ts'
import type { MailGuardOptions } from '../../src/auth/guards/mail/open-mail-guard.ts'
import { readCode } from '../../src/auth/mail/code-spelling.ts'
import { expectGraphQLFailure, expectProblem } from '../support/failures.ts'
import { type Answer, startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts'
import { mailGuardOptions } from '../support/mail-guard.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { startMailServer, type TestMailServer } from '../support/smtp.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const STRANGER = 'stranger@example.com'

async function startMailGateway(
  options: Partial<MailGuardOptions> = {},
  { server, ...gateway }: { server?: TestMailServer } & TestGatewayOptions = {},
): Promise<{ gateway: TestGateway; server: TestMailServer; login: Login }> {
  const mailServer = server ?? (await startMailServer())
  const mail = mailGuardOptions(mailServer, options)
  const started = await startGateway({
    createGuard: guardsOf(['mail'], { trustedOrigins: [], mail }),
    attemptsPerMinute: null,
    ...gateway,
  })
  return {
    gateway: started,
    server: mailServer,
    login: (email, code) =>
      started.send('POST', '/login', JSON.stringify({ email, ...(code === undefined ? {} : { code }) })),
  }
}

type Login = (email: string, code?: unknown) => Promise<Answer>

function expectSent(answer: Answer): void {
  expectProblem(answer, { status: 403, code: 'LOGIN_CODE_SENT', hasNot: [] })
}

function expectWrong(answer: Answer): void {
  expectProblem(answer, { status: 403, code: 'LOGIN_CODE_WRONG', hasNot: [] })
}

const wrongCode = (code: string) => (code.startsWith('0') ? `1${code.slice(1)}` : `0${code.slice(1)}`)

describe('the login guard "mail"', () => {
  test('mails a code, and signs in once whoever sends it back', async () => {
    const { gateway, server, login } = await startMailGateway()
    await gateway.load(SMALL_WORLD)
    const sent = await login(ANA)
    expectSent(sent)
    // Nothing was refused: a code is on its way.
    expect(sent.json().detail).not.toContain('refused')
    const { to, code } = await server.mail(0)
    expect([to, code]).toEqual([ANA, expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{8}$/)])
    const answer = await login(ANA, code)
    expect(answer.status).toBe(200)
    expect((await gateway.get('/projects', answer.json().accessToken)).status).toBe(200)
    expectWrong(await login(ANA, code))
    expect(server.mails).toHaveLength(1)
  })

  test('counts every attempt of a network, as other guards do', async () => {
    const { login } = await startMailGateway({}, { attemptsPerMinute: 2 })
    for (const email of [ANA, STRANGER]) expectSent(await login(email))
    const refused = await login(ANA)
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([429, '"login";q=2;w=60'])
  })

  test('accepts the code inside the email, for clients with one field, however the email is spelled', async () => {
    const { server, login } = await startMailGateway()
    expectSent(await login(' Ana@Example.COM '))
    const { code } = await server.mail(0)
    const answer = await login(ANA.replace('@', `+code-${code.toLowerCase()}@`))
    expect(answer.status).toBe(200)
    const claims = JSON.parse(Buffer.from(answer.json().accessToken.split('.')[1], 'base64url').toString())
    expect(claims.sub).toBe(ANA)
  })

  test('accepts the code inside an email of the maximum length', async () => {
    const { server, login } = await startMailGateway({ maxPerAddress: 100 })
    const longest = `${'a'.repeat(64)}@${'b'.repeat(61)}.${'c'.repeat(61)}.${'d'.repeat(61)}.io`
    for (const [index, email] of [`${'a'.repeat(64)}@example.com`, longest].entries()) {
      expectSent(await login(email))
      const { code } = await server.mail(index)
      expect((await login(email.replace('@', `\uff0bCODE-${code}@`))).status).toBe(200)
      expectWrong(await login(email.replace('@', `+code-${code}@`)))
    }
  })

  test('accepts the code inside an email that already looks as if it contained one', async () => {
    const { server, login } = await startMailGateway()
    const email = 'ana+code-review@example.com'
    expectSent(await login(email))
    expect((await login(email.replace('@', `+code-${(await server.mail(0)).code}@`))).status).toBe(200)
  })

  test('treats an email with a code in it as an ordinary email when no code is pending', async () => {
    const { server, login } = await startMailGateway()
    const tagged = 'ana+code-k7qm2p9d@example.com'
    expectSent(await login(tagged))
    expect((await server.mail(0)).to).toBe(tagged)
    expect((await login(tagged, (await server.mail(0)).code)).status).toBe(200)
  })

  test('works the same over GraphQL', async () => {
    const { gateway, server } = await startMailGateway()
    const query = 'mutation($email: String!, $code: String) { login(email: $email, code: $code) { accessToken } }'
    const login = (code: string | null) => gateway.graphql(query, { variables: { email: ANA, code } })
    expectGraphQLFailure(await login(null), { status: 403, code: 'LOGIN_CODE_SENT', hasNot: [] })
    const { code } = await server.mail(0)
    expectGraphQLFailure(await login(wrongCode(code)), { status: 403, code: 'LOGIN_CODE_WRONG', hasNot: [] })
    expect((await login(code)).json().data.login.accessToken).toMatch(/^eyJ/)
  })

  test('compares ten codes of one network for an email in ten minutes', async () => {
    const { gateway, login } = await startMailGateway({}, { attemptsPerMinute: 1_000 })
    for (let tries = 0; tries < 10; tries += 1) expectWrong(await login(ANA, 'K7QM2P9D'))
    const limited = await login(ANA, 'K7QM2P9D')
    expect([limited.status, limited.headers.get('ratelimit-policy')]).toEqual([429, '"code-email";q=10;w=600'])
    expectWrong(await login(STRANGER, 'K7QM2P9D'))
    gateway.advance(60)
    expectWrong(await login(ANA, 'K7QM2P9D'))
  })

  test('reads a code as people type it', async () => {
    const { gateway, server, login } = await startMailGateway({ maxPerAddress: 100 })
    const spellings: readonly ((code: string) => string)[] = [
      (code) => code.toLowerCase(),
      (code) => ` ${code.slice(0, 4)} ${code.slice(4)} `,
      (code) => `${code.slice(0, 4)}-${code.slice(4)}`,
      (code) => code.replaceAll('0', 'o').replaceAll('1', 'l'),
    ]
    for (const [index, spell] of spellings.entries()) {
      gateway.advance(3_600)
      expectSent(await login(ANA))
      expect((await login(ANA, spell((await server.mail(index)).code))).status).toBe(200)
    }
  })

  test.each([
    ['oOiIlL12', '00111112'],
    ['k7qm 2p9d', 'K7QM2P9D'],
    ['K7QM2P9U', null],
    ['K7QM2P9', null],
  ])('reads %s as the code %s', (typed, code) => {
    expect(readCode(typed)).toBe(code)
  })

  test('reads a code with three separators after each letter, and nothing longer', async () => {
    const { server, login } = await startMailGateway()
    expectSent(await login(ANA))
    const { code } = await server.mail(0)
    const spread = [...code].map((letter) => `${letter} - `).join('')
    expectWrong(await login(ANA, `${spread} `))
    expect((await login(ANA, spread)).status).toBe(200)
  })

  test.each([
    ['', 'empty'],
    [42, 'a number'],
    [{}, 'an object'],
    ['K7QM2P9', 'short'],
    ['K7QM2P9DX', 'long'],
    ['U7QM2P9D', 'of other letters'],
    ['x'.repeat(10_000), 'huge'],
  ])('refuses %j as a code (%s)', async (code, _kind) => {
    const { server, login } = await startMailGateway()
    expectSent(await login(ANA))
    await server.mail(0)
    expectWrong(await login(ANA, code))
  })

  test('refuses an invalid email, and sends no mail', async () => {
    const { server, login } = await startMailGateway()
    for (const email of [
      '',
      'ana',
      'ana@',
      'ana@localhost',
      'ana@example.com\r\nBcc: x@example.com',
      'a b@example.com',
    ])
      expectProblem(await login(email), { status: 400, code: 'INVALID_EMAIL', hasNot: [] })
    expectSent(await login(ANA))
    await server.mail(0)
    expect(server.mails).toHaveLength(1)
  })

  test('mails five codes an hour to an address from one network', async () => {
    const { gateway, server, login } = await startMailGateway()
    for (let mails = 0; mails < 5; mails += 1) {
      expectSent(await login(ANA))
      expect((await server.mail(mails)).to).toBe(ANA)
      // The code expires, so that the next request does not join it.
      gateway.advance(600)
    }
    // Requests are decided in their order.
    for (const email of [ANA, STRANGER]) expectSent(await login(email))
    expect((await server.mail(5)).to).toBe(STRANGER)
    gateway.advance(600)
    expectSent(await login(ANA))
    expect((await server.mail(6)).to).toBe(ANA)
  })

  test('strangers cannot use up the mails of an owner who signed in from a network within 180 days', async () => {
    const { gateway, server } = await startMailGateway({ maxPerAddress: 1 }, { trustedProxies: ['127.0.0.1'] })
    const login = (email: string, network: string, code?: string) =>
      gateway.send('POST', '/login', JSON.stringify({ email, code }), {
        'content-type': 'application/json',
        'x-forwarded-for': network,
      })
    const [home, elsewhere] = ['192.0.2.1', '198.51.100.1']
    expectSent(await login(ANA, home))
    const { code } = await server.mail(0)
    expect((await login(ANA, home, code)).status).toBe(200)
    gateway.advance(179 * 86_400)
    for (const [network, mail] of [
      [elsewhere, 1],
      [home, 2],
    ] as const) {
      expectSent(await login(ANA, network))
      expect((await server.mail(mail)).to).toBe(ANA)
    }
    gateway.advance(2 * 86_400)
    expectSent(await login(ANA, elsewhere))
    expect((await server.mail(3)).to).toBe(ANA)
    // The network is forgotten.
    expectSent(await login(ANA, home))
    expectSent(await login(STRANGER, home))
    expect((await server.mail(4)).to).toBe(STRANGER)
  })

  test.each([
    ['an address', { maxPerAddress: 1 }, ANA, '198.51.100.1'],
    ['a network', { maxPerNetwork: 1 }, STRANGER, '192.0.2.1'],
    ['all', { maxTotal: 1 }, STRANGER, '198.51.100.1'],
  ])(
    'an owner on a network they know gets a code when the mails to %s are used up',
    async (_, rules, email, network) => {
      const { gateway, server } = await startMailGateway(rules, { trustedProxies: ['127.0.0.1'] })
      const login = (to: string, from: string, code?: string) =>
        gateway.send('POST', '/login', JSON.stringify({ email: to, code }), {
          'content-type': 'application/json',
          'x-forwarded-for': from,
        })
      const home = '192.0.2.1'
      expectSent(await login(ANA, home))
      expect((await login(ANA, home, (await server.mail(0)).code)).status).toBe(200)
      gateway.advance(3_601)
      expectSent(await login(email, network))
      expect((await server.mail(1)).to).toBe(email)
      expectSent(await login(ANA, home))
      expect((await server.mail(2)).to).toBe(ANA)
    },
  )

  test('refuses the right code after ten minutes and after five wrong codes, and then mails another', async () => {
    const { gateway, server, login } = await startMailGateway()
    expectSent(await login(ANA))
    const { code: late } = await server.mail(0)
    gateway.advance(600)
    expectWrong(await login(ANA, late))
    expectSent(await login(ANA))
    const { code } = await server.mail(1)
    for (let tries = 0; tries < 5; tries += 1) expectWrong(await login(ANA, wrongCode(code)))
    expectWrong(await login(ANA, code))
    expectSent(await login(ANA))
    expect((await login(ANA, (await server.mail(2)).code)).status).toBe(200)
  })

  test('refuses a code when the clock was set back, and then mails another', async () => {
    const { gateway, server, login } = await startMailGateway({ maxPerAddress: 100 })
    expectSent(await login(ANA))
    const { code } = await server.mail(0)
    gateway.advance(-3_600)
    expectWrong(await login(ANA, code))
    expectSent(await login(ANA.replace('@', `+code-${code}@`)))
    expectSent(await login(ANA))
    const mails = [await server.mail(1), await server.mail(2)]
    const [other] = mails.filter(({ to }) => to === ANA)
    expect((await login(ANA, other?.code)).status).toBe(200)
  })

  test('a code does not sign in another email, and is not pending for another network', async () => {
    const { server, login, gateway } = await startMailGateway()
    expectSent(await login(ANA))
    const { code } = await server.mail(0)
    expectSent(await login(STRANGER))
    expectWrong(await login(STRANGER, code))
    const pending = await gateway.store.pendingSignIn(ANA, '127.0.0.1', gateway.now())
    expect(pending?.triesLeft).toBe(5)
    expect(await gateway.store.pendingSignIn(ANA, '192.0.2.1', gateway.now())).toBeNull()
  })

  test('sends one mail for ten concurrent requests', async () => {
    const { server, login } = await startMailGateway()
    for (const answer of await Promise.all(Array.from({ length: 10 }, () => login(ANA)))) expectSent(answer)
    const { code } = await server.mail(0)
    expect((await login(ANA, code)).status).toBe(200)
    expect(server.mails).toHaveLength(1)
  })

  test('answers the same for emails that get a mail, that are refused, and that are unknown', async () => {
    const { gateway, server, login } = await startMailGateway({ domains: ['example.com'], isForKnownUsersOnly: true })
    await gateway.load(SMALL_WORLD)
    const answers = [await login('ana@example.org'), await login(STRANGER), await login(ANA)]
    expect((await server.mail(0)).to).toBe(ANA)
    expect(server.mails).toHaveLength(1)
    for (const guess of ['K7QM2P9D', '00000000']) {
      for (const email of ['ana@example.org', STRANGER, ANA]) answers.push(await login(email, guess))
    }
    const seen = answers.map(({ status, text, headers }) => {
      const { date: _, 'x-request-id': requestId = '', ...rest } = Object.fromEntries(headers)
      return JSON.stringify([status, text.replace(requestId, ''), rest])
    })
    expect(new Set(seen.slice(0, 3)).size).toBe(1)
    expect(new Set(seen.slice(3)).size).toBe(1)
  })

  test('a request is decided a while after its answer, so that no answer takes longer for some emails', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    // A refused email gets no mail, whose connection would wait for a timer.
    const { gateway, login } = await startMailGateway({ isForKnownUsersOnly: true })
    const decided = async () => {
      await gateway.audit.flush()
      return gateway.store.auditEntries({ from: null, to: null, kind: 'codeRequest', who: null }, 0, 9)
    }
    expectSent(await login(STRANGER))
    vi.advanceTimersByTime(49)
    // Whatever is due runs in the turns of these requests.
    for (let count = 0; count < 10; count += 1) await gateway.get('/healthz')
    expect(await decided()).toEqual([])
    vi.advanceTimersByTime(200)
    await expect.poll(decided).toMatchObject([{ detail: 'refused' }])
  })

  test('the mail says where and when the code was requested and by what, and has nothing to click', async () => {
    const { server, login } = await startMailGateway()
    expectSent(await login(ANA))
    const { source, code } = await server.mail(0)
    expect(source).toContain('From: Workspace <no-reply@example.com>')
    expect(source).toContain('Subject: Your code')
    // No program answers it by itself.
    expect(source).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(source).toMatch(/^X-Auto-Response-Suppress: All\r$/m)
    for (const type of ['text/plain', 'text/html']) expect(source).toContain(`Content-Type: ${type}`)
    const body = source.slice(source.indexOf('\r\n\r\n'))
    expect(body.split(code)).toHaveLength(1 + 4)
    for (const fact of ['2026-01-01 00:00 UTC', '127.0.0.1', 'a Node.js program', '10 minutes']) {
      expect(body.split(fact), fact).toHaveLength(1 + 2)
    }
    expect(body).not.toMatch(/https?:|www\.|mailto:|href|src=|<(?:a|form|button|img|input|script|link|iframe)\b/i)
    expect(body).not.toContain('@example')
  })

  test('the mail contains nothing that a stranger wrote', async () => {
    const { gateway, server } = await startMailGateway()
    const headers = { 'content-type': 'application/json', 'user-agent': 'win a prize at evil.example <b>now</b>' }
    await gateway.send('POST', '/login', JSON.stringify({ email: ANA }), headers)
    const { source } = await server.mail(0)
    expect(source).not.toMatch(/prize|evil/)
    expect(source).toContain('an unknown program')
  })

  test('a mail that the server defers is sent later with the same code; a rejected mail is not', async () => {
    // Without the interval, only requests and failures wake the sender.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const [seen, refused]: [string[], string[]] = [[], []]
    const server = await startMailServer({
      onMail({ to, code }) {
        if (to === STRANGER) {
          refused.push(code)
          // The lowest permanent failure code (RFC 5321 section 4.2.1).
          throw Object.assign(new Error('no such mailbox'), { responseCode: 500 })
        }
        seen.push(code)
        if (seen.length === 1) throw Object.assign(new Error('later'), { responseCode: 451 })
      },
    })
    const { gateway, login } = await startMailGateway({}, { server })
    expectSent(await login(STRANGER))
    await expect.poll(() => gateway.reported).toHaveLength(1)
    expectSent(await login(ANA))
    // The failure is logged with the time of the next attempt, by the clock that moves only here.
    await expect.poll(() => gateway.reported).toHaveLength(2)
    gateway.advance(2)
    const { code } = await server.mail(0)
    expect(seen).toEqual([code, code])
    expect((await login(ANA, code)).status).toBe(200)
    expect(refused).toHaveLength(1)
    // No request joins a rejected mail.
    expectSent(await login(STRANGER))
    await expect.poll(() => new Set(refused).size).toBe(2)
    expect(JSON.stringify(gateway.reported.map(String))).not.toMatch(/@example|no such mailbox/)
  })

  test.skipIf(POSTGRES_URL === null)('several gateways on one PostgreSQL database send each mail once', async () => {
    const databaseUrl = await temporaryDatabase()
    const server = await startMailServer()
    const gateways = await Promise.all([0, 1, 2].map(() => startMailGateway({}, { server, databaseUrl })))
    const emails = Array.from({ length: 30 }, (_, index) => `user${index}@example.com`)
    await Promise.all(emails.flatMap((email) => gateways.map(async ({ login }) => expectSent(await login(email)))))
    await server.mail(29)
    expect(server.mails.map(({ to }) => to).toSorted()).toEqual(emails.toSorted())
    const [first, second] = gateways
    const { to, code } = await server.mail(0)
    const answers = await Promise.all([first, second].map((one) => one?.login(to, code)))
    expect(answers.map((answer) => answer?.status).toSorted()).toEqual([200, 403])
  })
})
