// Tries every guard behind every real proxy and at every address, and lists exactly which logins give tokens.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type GuardOptions, guardsOf, type LoginGuardName } from '../../../src/auth/guards/guards.ts'
import { SESSION_ROUTES } from '../../../src/rest/routes.ts'
import { freePorts } from '../../support/free-port.ts'
import { startGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { mailGuardOptions } from '../../support/mail-guard.ts'
import { canBeOtherUser, isInstalled, startProxy } from '../../support/proxy-process.ts'
import { mint, newKey, toJwk } from '../../support/signed-assertions.ts'
import { startMailServer } from '../../support/smtp.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { exchange, requestText } from '../../support/wire.ts'
import { ANA } from '../../support/workspaces.ts'
import { PROXY_ROWS, proxyStarts } from './configurations.ts'

/** Adds a credential that the guard admits to a request; with `isReal` false, a credential that is almost right. */
type Credential = (request: Asked, isReal: boolean) => Promise<Asked>

interface Asked {
  readonly email: string
  readonly headers: Headers
  /** Sends the request and tells whether the answer holds a token. */
  readonly send: (asked: Pick<Asked, 'email' | 'headers'>) => Promise<boolean>
}

interface GatewayRow {
  readonly name: string
  readonly guard: LoginGuardName
  readonly options?: TestGatewayOptions
}

const THIS_MACHINE = ['127.0.0.1', '::1']

const GATEWAYS: readonly GatewayRow[] = [
  { name: 'local', guard: 'local' },
  { name: 'local --trusted-proxy', guard: 'local', options: { trustedProxies: THIS_MACHINE } },
  { name: 'local --proxy-protocol', guard: 'local', options: { trustedProxies: THIS_MACHINE, proxyProtocol: true } },
  // No request in this matrix has the credential of a registered client.
  { name: 'client', guard: 'client' },
  { name: 'client --trusted-proxy', guard: 'client', options: { trustedProxies: THIS_MACHINE } },
  { name: 'mail', guard: 'mail' },
  { name: 'mail --trusted-proxy', guard: 'mail', options: { trustedProxies: THIS_MACHINE } },
  { name: 'assertion', guard: 'assertion' },
  { name: 'assertion --trusted-proxy', guard: 'assertion', options: { trustedProxies: THIS_MACHINE } },
  { name: 'none', guard: 'none' },
  { name: 'open', guard: 'open' },
  { name: 'open --proxy-protocol', guard: 'open', options: { trustedProxies: THIS_MACHINE, proxyProtocol: true } },
]

type Headers = readonly (readonly [name: string, value: string])[]

/** Headers besides those that every client sends. A stranger sends the first row, an attacker the others. */
const HEADERS: readonly (readonly [name: string, headers: Headers])[] = [
  ['public Host', [['Host', 'gateway.example.com']]],
  ['Host localhost', [['Host', 'localhost']]],
  [
    'Host localhost, forged address',
    [
      ['Host', 'localhost'],
      ['X-Forwarded-For', '127.0.0.1'],
    ],
  ],
  [
    'Host localhost, page of another site',
    [
      ['Host', 'localhost'],
      ['Origin', 'https://evil.example.com'],
    ],
  ],
]

const TWIN = SESSION_ROUTES.find(({ path }) => path === '/login')?.twin ?? ''
const PROTOCOLS = [
  ['REST', '/login', (email: string) => JSON.stringify({ email })],
  ['GraphQL', '/graphql', (email: string) => JSON.stringify({ query: TWIN, variables: { email } })],
] as const

/** The options that a guard needs to start, and the credential that it admits. */
async function partsOf(guard: LoginGuardName): Promise<{ options: GuardOptions; credential: Credential | null }> {
  if (guard === 'mail') return mailParts()
  if (guard === 'assertion') return assertionParts()
  return { options: { trustedOrigins: [] }, credential: null }
}

async function mailParts() {
  const server = await startMailServer()
  const mail = mailGuardOptions(server, { maxPerAddress: 1_000, maxPerNetwork: 10_000, maxTotal: 10_000 })
  const credential: Credential = async (asked, isReal) => {
    await asked.send(asked)
    const codeOf = () => server.mails.find(({ to }) => to === asked.email)?.code
    await expect.poll(codeOf).toBeDefined()
    const code = codeOf() ?? ''
    const sent = isReal ? code : `${code.startsWith('0') ? '1' : '0'}${code.slice(1)}`
    return { ...asked, email: asked.email.replace('@', `+code-${sent}@`) }
  }
  return { options: { trustedOrigins: [], mail }, credential }
}

async function assertionParts() {
  const [key, stranger] = [newKey(), newKey()]
  const keys = join(temporaryDirectory(), 'keys.json')
  writeFileSync(keys, JSON.stringify({ keys: [toJwk(key)] }))
  const seconds = Date.UTC(2026, 0, 1) / 1_000
  const signed = {
    preset: 'oidc' as const,
    header: 'x-assertion',
    issuer: 'https://id.example.com',
    audience: ['workspace'],
    keys,
    emailClaim: 'email',
    leewaySeconds: 60,
  }
  const credential: Credential = async (asked, isReal) => {
    const claims = {
      iss: signed.issuer,
      aud: 'workspace',
      iat: seconds - 10,
      exp: seconds + 600,
      email: asked.email,
      email_verified: true,
    }
    // The forged token has the right key id but the signature of another key.
    const token = mint(isReal ? key : { ...stranger, kid: key.kid }, { claims })
    return { ...asked, headers: [...asked.headers, ['X-Assertion', token]] }
  }
  return { options: { trustedOrigins: [], assertion: { signed, unsigned: null } }, credential }
}

async function startRow({ guard, options }: GatewayRow, host?: string) {
  const parts = await partsOf(guard)
  const gateway = await startGateway({
    createGuard: guardsOf([guard], parts.options),
    attemptsPerMinute: null,
    ...(host === undefined ? {} : { host }),
    ...options,
  })
  return { ...gateway, credential: parts.credential }
}

async function hasToken(url: string, target: string, headers: Headers, body: string): Promise<boolean> {
  const all: Headers = [['Content-Type', 'application/json'], ['Connection', 'close'], ...headers]
  const bytes = await exchange(url, requestText({ method: 'POST', target, headers: all, body })).catch(() =>
    Buffer.alloc(0),
  )
  return bytes.includes('wgr_')
}

/** Tries every request at this address over both protocols, and returns those that got tokens. */
async function cellsWithTokens(path: string, url: string): Promise<readonly string[]> {
  const cells: string[] = []
  for (const [asked, headers] of HEADERS) {
    for (const [protocol, target, bodyOf] of PROTOCOLS) {
      if (await hasToken(url, target, headers, bodyOf(ANA))) cells.push(`${path} | ${asked} | ${protocol}`)
    }
  }
  return cells
}

/** In each cell a new email asks: with the credential that the guard requires, then with an almost right one. */
async function cellsWithCredentials(path: string, url: string, credential: Credential): Promise<readonly string[]> {
  const cells: string[] = []
  for (const [isReal, asked] of CREDENTIALS) {
    for (const [protocol, target, bodyOf] of PROTOCOLS) {
      const send: Asked['send'] = ({ email, headers }) => hasToken(url, target, headers, bodyOf(email))
      const email = `${randomUUID()}@example.com`
      const request = await credential({ email, headers: [['Host', 'gateway.example.com']], send }, isReal)
      if (await send(request)) cells.push(`${path} | ${asked} | ${protocol}`)
    }
  }
  return cells
}

const CREDENTIALS = [
  [true, 'what the guard asks for'],
  [false, 'something like it'],
] as const

async function isServed(url: string): Promise<boolean> {
  const request = requestText({ headers: [['Connection', 'close']] })
  const bytes = await exchange(url, request).catch(() => Buffer.alloc(0))
  return bytes.includes('"status":"ok"')
}

const both = (cell: string) => [`${cell} | REST`, `${cell} | GraphQL`]
const allHeaders = (cell: string) => HEADERS.flatMap(([asked]) => both(`${cell} | ${asked}`))

test('only the listed requests get tokens behind real proxies', async () => {
  const rows = PROXY_ROWS.filter(({ program }) => isInstalled(program))
  const ports = [...(await freePorts('127.0.0.1', rows.length * GATEWAYS.length))]
  const links = await Promise.all(
    GATEWAYS.map(async (gateway) => {
      const { url, credential } = await startRow(gateway)
      return rows
        .filter(({ asSameUser }) => canBeOtherUser || asSameUser || gateway.guard !== 'local')
        .map((row) => ({ row, gateway, credential, gatewayPort: Number(new URL(url).port), port: ports.pop() ?? 0 }))
    }),
  )
  await Promise.all(proxyStarts(links.flat()).map(startProxy))

  const [served, tokens]: [string[], string[]] = [[], []]
  const [expectServed, open]: [string[], string[]] = [[], []]
  async function walk({ row, gateway, credential, port }: (typeof links)[number][number]): Promise<void> {
    const cell = `${row.name} | ${gateway.name}`
    if (await isServed(`http://127.0.0.1:${port}`)) served.push(cell)
    tokens.push(...(await cellsWithTokens(cell, `http://127.0.0.1:${port}`)))
    if (gateway.name.endsWith('--proxy-protocol') !== row.name.includes('send-proxy')) return
    expectServed.push(cell)
    if (gateway.guard === 'open') open.push(...allHeaders(cell))
    if (!credential) return
    tokens.push(...(await cellsWithCredentials(cell, `http://127.0.0.1:${port}`, credential)))
    open.push(...both(`${cell} | what the guard asks for`))
  }
  await Promise.all(
    links.map(async (some) => {
      for (const link of some) await walk(link)
    }),
  )

  // No row may be refused merely because its proxy is broken: each proxy whose protocol the gateway speaks is served.
  expect(served.toSorted()).toEqual(expectServed.toSorted())
  // No check can see a forwarder that runs as the same user (SECURITY.md).
  const local = isInstalled('socat') ? both('socat of the same user | local | Host localhost') : []
  expect(tokens.toSorted()).toEqual([...open, ...local].toSorted())
})

test('only the listed requests get tokens without a proxy, at every listening and requested address', async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const external = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address
  const hasIPv6 = addresses.some(({ address }) => address === '::1')
  if (external === undefined || !hasIPv6)
    console.warn('this machine has no other address, or no ::1: their rows are left out')
  const tokens: string[] = []
  const expected: string[] = []
  const [served, expectServed]: [string[], string[]] = [[], []]
  for (const row of GATEWAYS) {
    const { name, guard } = row
    for (const [host, asked] of [
      ['127.0.0.1', ['127.0.0.1']],
      ...(hasIPv6 ? ([['::1', ['[::1]']]] as const) : []),
      ['0.0.0.0', ['127.0.0.1', ...(external === undefined ? [] : [external])]],
      ...(hasIPv6 ? ([['::', ['[::1]', '127.0.0.1', ...(external === undefined ? [] : [external])]]] as const) : []),
    ] as const) {
      const gateway = await startRow(row, host)
      const { port } = new URL(gateway.url)
      for (const address of asked) {
        const cell = `${address} at ${host} | ${name}`
        tokens.push(...(await cellsWithTokens(cell, `http://${address}:${port}`)))
        if (await isServed(`http://${address}:${port}`)) served.push(cell)
        // A trusted peer must begin with a PROXY header, so it gets no answer here.
        const isDirect = address === external || !name.endsWith('--proxy-protocol')
        if (isDirect) expectServed.push(cell)
        if (guard === 'open' && isDirect) expected.push(...allHeaders(cell))
        if (name === 'local' && address !== external) expected.push(...both(`${cell} | Host localhost`))
      }
    }
  }
  // No row may be refused merely because nobody answers at its address.
  expect(served.toSorted()).toEqual(expectServed.toSorted())
  expect(tokens.toSorted()).toEqual(expected.toSorted())
})
