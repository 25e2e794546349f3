import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { guardsOf, type LoginGuardName } from '../../../src/auth/guards/guards.ts'
import { SESSION_ROUTES } from '../../../src/rest/routes.ts'
import { freePorts } from '../../support/free-port.ts'
import { startGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { canBeOtherUser, isInstalled, startProxy } from '../../support/proxy-process.ts'
import { exchange, requestText } from '../../support/wire.ts'
import { ANA } from '../../support/workspaces.ts'
import { PROXY_ROWS, proxyStarts } from './configurations.ts'

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
  // Nobody here has a registered client's credential.
  { name: 'client', guard: 'client' },
  { name: 'client --trusted-proxy', guard: 'client', options: { trustedProxies: THIS_MACHINE } },
  { name: 'none', guard: 'none' },
  { name: 'open', guard: 'open' },
  { name: 'open --proxy-protocol', guard: 'open', options: { trustedProxies: THIS_MACHINE, proxyProtocol: true } },
]

type Headers = readonly (readonly [name: string, value: string])[]

/** What a client sends besides what every client sends. The first is how strangers come, the others how attackers do. */
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
  ['REST', '/login', JSON.stringify({ email: ANA })],
  ['GraphQL', '/graphql', JSON.stringify({ query: TWIN, variables: { email: ANA } })],
] as const

async function hasToken(url: string, target: string, headers: Headers, body: string): Promise<boolean> {
  const all: Headers = [['Content-Type', 'application/json'], ['Connection', 'close'], ...headers]
  const bytes = await exchange(url, requestText({ method: 'POST', target, headers: all, body })).catch(() =>
    Buffer.alloc(0),
  )
  return bytes.includes('wgr_')
}

/** Every way to ask at this address, in both protocols: those that got tokens. */
async function cellsWithTokens(path: string, url: string): Promise<readonly string[]> {
  const cells: string[] = []
  for (const [asked, headers] of HEADERS) {
    for (const [protocol, target, body] of PROTOCOLS) {
      if (await hasToken(url, target, headers, body)) cells.push(`${path} | ${asked} | ${protocol}`)
    }
  }
  return cells
}

async function isServed(url: string): Promise<boolean> {
  const request = requestText({ headers: [['Connection', 'close']] })
  const bytes = await exchange(url, request).catch(() => Buffer.alloc(0))
  return bytes.includes('"status":"ok"')
}

const both = (cell: string) => [`${cell} | REST`, `${cell} | GraphQL`]
const allHeaders = (cell: string) => HEADERS.flatMap(([asked]) => both(`${cell} | ${asked}`))

test('behind real proxies only the listed cells give tokens', async () => {
  const rows = PROXY_ROWS.filter(({ program }) => isInstalled(program))
  const ports = [...(await freePorts('127.0.0.1', rows.length * GATEWAYS.length))]
  const links = await Promise.all(
    GATEWAYS.map(async (gateway) => {
      const { guard, options } = gateway
      const { url } = await startGateway({ createGuard: guardsOf([guard], { trustedOrigins: [] }), ...options })
      return rows
        .filter(({ asSameUser }) => canBeOtherUser || asSameUser || guard !== 'local')
        .map((row) => ({ row, gateway, gatewayPort: Number(new URL(url).port), port: ports.pop() ?? 0 }))
    }),
  )
  await Promise.all(proxyStarts(links.flat()).map(startProxy))

  const [served, tokens]: [string[], string[]] = [[], []]
  const [expectServed, open]: [string[], string[]] = [[], []]
  for (const { row, gateway, port } of links.flat()) {
    const cell = `${row.name} | ${gateway.name}`
    if (await isServed(`http://127.0.0.1:${port}`)) served.push(cell)
    tokens.push(...(await cellsWithTokens(cell, `http://127.0.0.1:${port}`)))
    if (gateway.name.endsWith('--proxy-protocol') !== row.name.includes('send-proxy')) continue
    expectServed.push(cell)
    if (gateway.guard === 'open') open.push(...allHeaders(cell))
  }

  // No proxy is refused because it does not work: each passes requests on, to a gateway that speaks as it does.
  expect(served).toEqual(expectServed)
  // A forwarder of the same user is what no check can see (SECURITY.md).
  const local = isInstalled('socat') ? both('socat of the same user | local | Host localhost') : []
  expect(tokens.toSorted()).toEqual([...open, ...local].toSorted())
})

test('directly only the listed cells give tokens, whatever address is listened on and asked at', async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const external = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address
  const hasIPv6 = addresses.some(({ address }) => address === '::1')
  if (external === undefined || !hasIPv6)
    console.warn('this machine has no other address, or no ::1: their rows are left out')
  const tokens: string[] = []
  const expected: string[] = []
  for (const { name, guard, options } of GATEWAYS) {
    for (const [host, asked] of [
      ['127.0.0.1', ['127.0.0.1']],
      ...(hasIPv6 ? ([['::1', ['[::1]']]] as const) : []),
      ['0.0.0.0', ['127.0.0.1', ...(external === undefined ? [] : [external])]],
      ...(hasIPv6 ? ([['::', ['[::1]', '127.0.0.1', ...(external === undefined ? [] : [external])]]] as const) : []),
    ] as const) {
      const gateway = await startGateway({ createGuard: guardsOf([guard], { trustedOrigins: [] }), host, ...options })
      const { port } = new URL(gateway.url)
      for (const address of asked) {
        const cell = `${address} at ${host} | ${name}`
        tokens.push(...(await cellsWithTokens(cell, `http://${address}:${port}`)))
        // A listed peer must begin with a PROXY header.
        const isDirect = address === external || !name.endsWith('--proxy-protocol')
        if (guard === 'open' && isDirect) expected.push(...allHeaders(cell))
        if (name === 'local' && address !== external) expected.push(...both(`${cell} | Host localhost`))
      }
    }
  }
  expect(tokens.toSorted()).toEqual(expected.toSorted())
})
