// Tests which client a trusted proxy names in `X-Forwarded-For` and `Forwarded`, and the list of trusted proxies.
import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/auth/caller.ts'
import { clientOf } from '../../src/http/forwarding/client.ts'
import { createTrustedProxies, networkProblem } from '../../src/http/forwarding/trusted-proxies.ts'

const PROXY: Client = { address: '127.0.0.1', scheme: 'http', host: 'gateway:4000' }
const PROXIES = createTrustedProxies(['127.0.0.0/8', '10.0.0.0/24', '2001:db8:ffff::/48'])

type Row = readonly [name: string, headers: Readonly<Record<string, string>>, client: Partial<Client>]

const ROWS: readonly Row[] = [
  ['no header: the client is the proxy itself', {}, PROXY],
  ['X-Forwarded-For', { 'x-forwarded-for': '192.0.2.1' }, { address: '192.0.2.1' }],
  [
    'entries that the client put in front are ignored',
    { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' },
    { address: '192.0.2.1' },
  ],
  [
    'a trusted address in front of an untrusted one is ignored',
    { 'x-forwarded-for': '10.0.0.9, 192.0.2.1' },
    { address: '192.0.2.1' },
  ],
  ['two proxies', { 'x-forwarded-for': '192.0.2.1, 10.0.0.7' }, { address: '192.0.2.1' }],
  ['a proxy outside the list is the client', { 'x-forwarded-for': '192.0.2.1, 10.0.1.7' }, { address: '10.0.1.7' }],
  [
    'only trusted addresses: the client is the farthest',
    { 'x-forwarded-for': '10.0.0.1,10.0.0.2' },
    { address: '10.0.0.1' },
  ],
  ['a port', { 'x-forwarded-for': '192.0.2.1:47011' }, { address: '192.0.2.1' }],
  ['IPv6', { 'x-forwarded-for': '2001:db8::1' }, { address: '2001:db8::1' }],
  ['IPv6 with a port', { 'x-forwarded-for': '[2001:db8::1]:443' }, { address: '2001:db8::1' }],
  ['an IPv6 proxy', { 'x-forwarded-for': '192.0.2.1, 2001:db8:ffff::7' }, { address: '192.0.2.1' }],
  [
    'an invalid entry: the client is the proxy that sent it',
    { 'x-forwarded-for': '192.0.2.1, <script>' },
    { address: '127.0.0.1' },
  ],
  [
    'unknown: the client is the proxy that sent it',
    { 'x-forwarded-for': '192.0.2.1, unknown, 10.0.0.7' },
    { address: '10.0.0.7' },
  ],
  [
    'brackets around no address: the client is the proxy that sent it',
    { 'x-forwarded-for': '[nonsense]' },
    { address: '127.0.0.1' },
  ],
  [
    'brackets around IPv4: the client is the proxy that sent it',
    { forwarded: 'for="[192.0.2.1]"' },
    { address: '127.0.0.1' },
  ],
  [
    'IPv6 with a zone: the client is the proxy that sent it',
    { 'x-forwarded-for': 'fe80::1%eth0' },
    { address: '127.0.0.1' },
  ],
  ['white space', { 'x-forwarded-for': '203.0.113.9 ,\t192.0.2.1 \t' }, { address: '192.0.2.1' }],
  [
    'a no-break space: the client is the proxy that sent it',
    { 'x-forwarded-for': '192.0.2.1\xa0' },
    { address: '127.0.0.1' },
  ],
  [
    'a no-break space in Forwarded: the client is the proxy that sent it',
    { forwarded: 'for=192.0.2.1\xa0' },
    { address: '127.0.0.1' },
  ],
  ['an empty list', { 'x-forwarded-for': '' }, { address: '127.0.0.1' }],
  ['a number that is no address', { 'x-forwarded-for': '3232235777' }, { address: '127.0.0.1' }],
  [
    'scheme and host',
    { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'app.example.com' },
    { address: '192.0.2.1', scheme: 'https', host: 'app.example.com' },
  ],
  [
    'scheme and host of the hop that saw the client',
    {
      'x-forwarded-for': '192.0.2.1, 10.0.0.7',
      'x-forwarded-proto': 'https, http',
      'x-forwarded-host': 'app.example.com, inner',
    },
    { address: '192.0.2.1', scheme: 'https', host: 'app.example.com' },
  ],
  [
    'a single scheme for a longer list is that of the nearest proxy',
    { 'x-forwarded-for': '203.0.113.9, 192.0.2.1', 'x-forwarded-proto': 'https' },
    { address: '192.0.2.1', scheme: 'https' },
  ],
  ['an unknown scheme', { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'javascript' }, { scheme: 'http' }],
  ['an invalid host', { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'a/b@c' }, { host: 'gateway:4000' }],
  ['a host without an address', { 'x-forwarded-host': 'evil.example.com' }, PROXY],
  [
    'Forwarded',
    { forwarded: 'for=192.0.2.1;proto=https;host=app.example.com' },
    { address: '192.0.2.1', scheme: 'https', host: 'app.example.com' },
  ],
  [
    'Forwarded, in any case',
    { forwarded: 'For="[2001:db8::1]:4711";PROTO=HTTPS' },
    { address: '2001:db8::1', scheme: 'https' },
  ],
  [
    'Forwarded: commas and escapes within quotes do not separate elements',
    { forwarded: 'for="unknown, for=198.51.100.1";by="\\"", for=192.0.2.1;by="a;b,c"' },
    { address: '192.0.2.1' },
  ],
  [
    'Forwarded: two hops',
    { forwarded: 'for=192.0.2.1;proto=https, for=10.0.0.7;proto=http' },
    { address: '192.0.2.1', scheme: 'https' },
  ],
  ['Forwarded: an obfuscated client', { forwarded: 'for=_hidden, for=10.0.0.7' }, { address: '10.0.0.7' }],
  ['Forwarded: no for', { forwarded: 'proto=https' }, { address: '127.0.0.1', scheme: 'https' }],
  ['Forwarded: malformed', { forwarded: 'for=192.0.2.1;x' }, PROXY],
  ['Forwarded: twice the same parameter', { forwarded: 'for=192.0.2.1;for=192.0.2.2' }, PROXY],
  [
    'both, and they agree',
    { forwarded: 'for=192.0.2.1;proto=https', 'x-forwarded-for': '203.0.113.9, 192.0.2.1' },
    { address: '192.0.2.1', scheme: 'https' },
  ],
  ...[
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '::ffff:c000:201'],
  ].map(
    ([address = '', other = '']): Row => [
      `both, and they spell one address in two ways: ${address} and ${other}`,
      { forwarded: `for="${address.includes(':') ? `[${address}]` : address}";proto=https`, 'x-forwarded-for': other },
      { address, scheme: 'https' },
    ],
  ),
  [
    'a Forwarded of the client that its proxy did not replace: both are ignored',
    { forwarded: 'for=198.51.100.1', 'x-forwarded-for': '192.0.2.1' },
    PROXY,
  ],
  ...[
    'for=192.0.2.1;',
    ';for=192.0.2.1',
    'for=192.0.2.1;;proto=http',
    'for=192.0.2.1; ;',
    ', for=192.0.2.1',
    'for=192.0.2.1,',
    ' ,\t, for=192.0.2.1 , ',
    'for=192.0.2.1,, for=10.0.0.7,',
    `for=192.0.2.1${','.repeat(40)}`,
  ].flatMap((forwarded): Row[] => [
    [
      `Forwarded: empty elements are ignored (${forwarded})`,
      { forwarded, 'x-forwarded-for': '192.0.2.1' },
      { address: '192.0.2.1' },
    ],
    [
      `Forwarded: with empty elements, a contradicting X-Forwarded-For makes both ignored (${forwarded})`,
      { forwarded, 'x-forwarded-for': '198.51.100.1' },
      PROXY,
    ],
  ]),
  ...['x y', 'x', 'for=198.51.100.1;for=198.51.100.2', 'a"b, for=198.51.100.1, c"d'].flatMap((spoilt): Row[] => [
    [
      `Forwarded: a malformed element before that of a proxy is ignored (${spoilt})`,
      { forwarded: `${spoilt}, for=192.0.2.1`, 'x-forwarded-for': '192.0.2.1' },
      { address: '192.0.2.1' },
    ],
    [
      `Forwarded: after a malformed element, a contradicting X-Forwarded-For makes both ignored (${spoilt})`,
      { forwarded: `${spoilt}, for=192.0.2.1`, 'x-forwarded-for': '198.51.100.1' },
      PROXY,
    ],
    [
      `Forwarded: the search stops at a malformed element before that of a trusted proxy (${spoilt})`,
      { forwarded: `for=198.51.100.1, ${spoilt}, for=10.0.0.7`, 'x-forwarded-for': '198.51.100.1' },
      PROXY,
    ],
  ]),
  ...[
    '", for=192.0.2.1',
    'for=", for=192.0.2.1',
    'for="',
    'for=198.51.100.1, "',
    'for=198.51.100.1;by=", for="[::1]"',
  ].map(
    (forwarded): Row => [
      `Forwarded: with a quotation mark that the client left open, both are ignored (${forwarded})`,
      { forwarded, 'x-forwarded-for': '198.51.100.1' },
      PROXY,
    ],
  ),
  ...['', ',', ' , ,'].map(
    (forwarded): Row => [
      `an empty Forwarded is ignored (${forwarded})`,
      { forwarded, 'x-forwarded-for': '192.0.2.1' },
      { address: '192.0.2.1' },
    ],
  ),
]

describe('the client behind a trusted proxy', () => {
  test.each(ROWS)('%s', (_, headers, client) => {
    expect(clientOf(PROXY, PROXIES, (name) => headers[name])).toMatchObject(client)
  })

  test.each([
    ['x-forwarded-for', (address: string) => address],
    ['forwarded', (address: string) => `for=${address}`],
  ])('is searched for in the nearest hops only, however many the client puts in front: %s', (header, hop) => {
    const found = (addresses: readonly string[]) => {
      const list = addresses.map(hop).join(', ')
      return clientOf(PROXY, PROXIES, (name) => (name === header ? list : undefined)).address
    }
    expect(found(['192.0.2.1', ...Array.from({ length: 40 }, () => '10.0.0.7')])).toBe('10.0.0.7')
    expect(found([...Array.from({ length: 40 }, () => '203.0.113.9'), '192.0.2.1'])).toBe('192.0.2.1')
  })
})

describe('a list of trusted proxies', () => {
  test.each([
    ['127.0.0.1', ['127.0.0.1', '::ffff:127.0.0.1'], ['127.0.0.2', '::1', '']],
    ['10.0.0.0/8', ['10.255.255.255'], ['11.0.0.0', '9.255.255.255', '::a00:1']],
    ['10.1.2.3/31', ['10.1.2.2', '10.1.2.3'], ['10.1.2.4']],
    ['2001:db8::/32', ['2001:db8:ffff::1'], ['2001:db9::1', '32.1.13.184']],
    ['fe80::/10', ['fe80::1%eth0'], ['fec0::1']],
  ])('includes the addresses of %s and no others', (network, inside, outside) => {
    const { includes } = createTrustedProxies([network])
    expect(inside.filter((address) => !includes(address))).toEqual([])
    expect(outside.filter((address) => includes(address))).toEqual([])
  })

  test.each([
    '',
    'localhost',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.1/',
    '10.0.0.1/8/8',
    '10.0.0.1/+8',
    '0.0.0.0/0',
    '::/0',
    'fe80::1%eth0',
  ])('refuses "%s"', (text) => {
    expect(networkProblem(text)).not.toBeNull()
    expect(() => createTrustedProxies([text])).toThrow(RangeError)
  })
})
