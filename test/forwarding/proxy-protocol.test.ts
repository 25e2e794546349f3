// Tests the PROXY protocol: its header in versions 1 and 2, and a gateway with --proxy-protocol.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readProxyHeader } from '../../src/http/forwarding/proxy-protocol.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { startGateway } from '../support/gateway.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { serverOptions } from '../support/server-options.ts'
import { exchange, openSocket, readAnswers, readToEnd, requestText } from '../support/wire.ts'
import { ANA } from '../support/workspaces.ts'

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

interface Version2 {
  readonly version?: number
  readonly command?: number
  readonly family?: number
  readonly addresses?: readonly number[]
  readonly port?: number
  readonly tlvs?: readonly number[]
}

function version2({
  version = 2,
  command = 1,
  family = 0x11,
  addresses,
  port = 4000,
  tlvs = [],
}: Version2 = {}): Buffer {
  const ends =
    addresses ?? (family === 0x21 ? [0x20, 1, 0xd, 0xb8, ...new Array(28).fill(0)] : [192, 0, 2, 1, 127, 0, 0, 1])
  const block = [...ends, 0xdc, 0x04, port >> 8, port & 0xff, ...tlvs]
  return Buffer.from([...SIGNATURE, (version << 4) | command, family, block.length >> 8, block.length & 0xff, ...block])
}

function line(text: string): Buffer {
  return Buffer.from(`${text}\r\n`, 'latin1')
}

describe('a PROXY header', () => {
  test.each([
    ['version 1, IPv4', line('PROXY TCP4 192.0.2.1 198.51.100.1 56324 4000'), { address: '192.0.2.1', isTls: false }],
    ['version 1, port 443', line('PROXY TCP4 192.0.2.1 198.51.100.1 56324 443'), { address: '192.0.2.1', isTls: true }],
    ['version 1, IPv6', line('PROXY TCP6 2001:db8::1 ::1 1 2'), { address: '2001:db8::1', isTls: false }],
    ['version 1, unknown', line('PROXY UNKNOWN ffff::1 whatever'), null],
    ['version 2, IPv4', version2(), { address: '192.0.2.1', isTls: false }],
    ['version 2, IPv6', version2({ family: 0x21 }), { address: '2001:db8::', isTls: false }],
    ['version 2, port 443', version2({ port: 443 }), { address: '192.0.2.1', isTls: true }],
    [
      'version 2, TLS by its TLV',
      version2({ tlvs: [4, 0, 1, 0, 0x20, 0, 5, 1, 0, 0, 0, 0] }),
      { address: '192.0.2.1', isTls: true },
    ],
    [
      'version 2, a TLV without TLS',
      version2({ tlvs: [0x20, 0, 5, 0, 0, 0, 0, 0] }),
      { address: '192.0.2.1', isTls: false },
    ],
    [
      'version 1, the largest ports',
      line('PROXY TCP4 192.0.2.1 198.51.100.1 65535 65535'),
      { address: '192.0.2.1', isTls: false },
    ],
    [
      'version 1, from port 443',
      line('PROXY TCP4 192.0.2.1 198.51.100.1 443 0'),
      { address: '192.0.2.1', isTls: false },
    ],
    ['version 1, a line of the maximum length', line(`PROXY UNKNOWN ${'x'.repeat(91)}`), null],
    ['version 2, other TLVs', version2({ tlvs: [4, 0, 2, 0x20, 0x20] }), { address: '192.0.2.1', isTls: false }],
    ['version 2, a truncated TLV', version2({ tlvs: [4, 0] }), { address: '192.0.2.1', isTls: false }],
    [
      'version 2, the maximum length',
      version2({ tlvs: [4, 7, 0xf1, ...new Array(2_033).fill(0)] }),
      { address: '192.0.2.1', isTls: false },
    ],
    ['version 2, a connection of the proxy itself', version2({ command: 0 }), null],
    ['version 2, a connection of the proxy itself without addresses', Buffer.from([...SIGNATURE, 0x20, 0, 0, 0]), null],
    ['version 2, a Unix socket', version2({ family: 0x31, addresses: new Array(216).fill(0) }), null],
    ['version 2, UDP', version2({ family: 0x12 }), null],
  ] as const)('is read: %s', (_, header, source) => {
    expect(readProxyHeader(Buffer.concat([header, Buffer.from('GET / HTTP/1.1\r\n')]))).toEqual({
      source,
      byteLength: header.length,
    })
    for (let length = 0; length < header.length; length += 1) {
      expect(readProxyHeader(header.subarray(0, length)), `${length} bytes`).toBe('incomplete')
    }
  })

  test.each([
    ['a request', Buffer.from('GET / HTTP/1.1\r\n')],
    ['another case', line('proxy TCP4 192.0.2.1 198.51.100.1 1 2')],
    ['no ports', line('PROXY TCP4 192.0.2.1 198.51.100.1')],
    ['a surplus port', line('PROXY TCP4 192.0.2.1 198.51.100.1 1 2 3')],
    ['a port that is too large', line('PROXY TCP4 192.0.2.1 198.51.100.1 65536 2')],
    ['a port with a leading zero', line('PROXY TCP4 192.0.2.1 198.51.100.1 01 2')],
    ['an address of the other family', line('PROXY TCP4 ::1 198.51.100.1 1 2')],
    ['no address', line('PROXY TCP4 a 198.51.100.1 1 2')],
    ['no family', line('PROXY ')],
    ['two spaces', line('PROXY  TCP4 192.0.2.1 198.51.100.1 1 2')],
    ['a line without an end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(93)}`)],
    ['a line that ends too late', line(`PROXY UNKNOWN ${'x'.repeat(92)}`)],
    ['a destination of the other family', line('PROXY TCP4 192.0.2.1 ::1 1 2')],
    ['an unknown family', line('PROXY TCP5 192.0.2.1 198.51.100.1 1 2')],
    ['a byte more than the maximum length', version2({ tlvs: new Array(2_037).fill(0) })],
    ['version 3', version2({ version: 3 })],
    ['an unknown command', version2({ command: 2 })],
    ['truncated addresses', version2({ addresses: [192, 0, 2, 1] })],
    ['more than the maximum length', version2({ tlvs: new Array(2_100).fill(0) })],
  ])('is malformed: %s', (_, bytes) => expect(readProxyHeader(bytes)).toBe('malformed'))

  test('of random bytes is never accepted, and never makes the reader throw', () => {
    for (let round = 0; round < 2_000; round += 1) {
      const tail = randomBytes(round % 80)
      expect(['incomplete', 'malformed']).toContain(readProxyHeader(Buffer.concat([randomBytes(13), tail])))
      expect(readProxyHeader(Buffer.concat([SIGNATURE, tail]))).toBeDefined()
    }
  })
})

const LOGIN = requestText({
  method: 'POST',
  target: '/login',
  headers: [
    ['Content-Type', 'application/json'],
    ['X-Forwarded-For', '203.0.113.99'],
    ['Connection', 'close'],
  ],
  body: JSON.stringify({ email: ANA }),
})

describe('a gateway with --proxy-protocol', () => {
  const OPTIONS = { attemptsPerMinute: 1, proxyProtocol: true, trustedProxies: ['127.0.0.1'] }

  async function statuses(
    url: string,
    headers: readonly (Buffer | string)[],
  ): Promise<readonly (number | undefined)[]> {
    const found: (number | undefined)[] = []
    for (const header of headers) {
      const bytes = Buffer.concat([Buffer.from(header), Buffer.from(LOGIN)])
      const [answer] = readAnswers(await exchange(url, bytes))
      found.push(answer?.status)
    }
    return found
  }

  test('takes the client from the header, limits each by itself, and ignores headers of the request', async () => {
    const gateway = await startGateway(OPTIONS)
    const from = (address: string) => line(`PROXY TCP4 ${address} 198.51.100.1 56324 443`)
    // The guard refuses all of them (403). The rate limit refuses only a client that comes again (429).
    expect(
      await statuses(gateway.url, [
        from('192.0.2.1'),
        from('192.0.2.1'),
        from('192.0.2.2'),
        version2(),
        version2({ family: 0x21 }),
      ]),
    ).toEqual([403, 429, 403, 429, 403])
  })

  test('accepts the id of a request only if its client is a listed proxy itself', async () => {
    const gateway = await startGateway(OPTIONS)
    const request = requestText({
      target: '/projects',
      headers: [
        ['X-Request-Id', 'of-somebody-else'],
        ['Connection', 'close'],
      ],
    })
    const idFrom = async (address: string) => {
      const [answer] = readAnswers(
        await exchange(gateway.url, line(`PROXY TCP4 ${address} 198.51.100.1 56324 443`) + request),
      )
      return answer?.headers.get('x-request-id')
    }
    expect(await idFrom('192.0.2.1')).toMatch(/^[0-9a-f]{32}$/)
    expect(await idFrom('127.0.0.1')).toBe('of-somebody-else')
  })

  test('reads requests that arrive in pieces, cut anywhere, and the next one on the connection', async () => {
    const gateway = await startGateway(OPTIONS)
    const health = requestText({})
    const last = requestText({ headers: [['Connection', 'close']] })
    const bytes = Buffer.concat([version2(), Buffer.from(health + last)])
    const cuts = [1, 15, 16, 27, 28, 29, 60, 28 + health.length, bytes.length - 1]
    await Promise.all(
      cuts.map(async (cut) => {
        const socket = await openSocket(gateway.url)
        socket.setNoDelay(true)
        socket.write(bytes.subarray(0, cut))
        await new Promise((resolve) => setImmediate(resolve))
        socket.write(bytes.subarray(cut))
        const answers = readAnswers(await readToEnd(socket))
        expect(
          answers.map(({ status }) => status),
          `cut at ${cut}`,
        ).toEqual([200, 200])
      }),
    )
  })

  test('keeps a connection whose header came in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const gateway = await startGateway(OPTIONS)
    const socket = await openSocket(gateway.url)
    socket.write(Buffer.concat([version2(), Buffer.from(requestText({}))]))
    await once(socket, 'readable')
    vi.advanceTimersByTime(60_000)
    socket.write(requestText({ headers: [['Connection', 'close']] }))
    expect(readAnswers(await readToEnd(socket)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('does not refuse a connection on which only the header has come when the time for a request is over', async () => {
    const { proxyProtocol, trustedProxies } = OPTIONS
    const server = createHttpServer(
      async () => ({ status: 200, headers: {}, body: null }),
      serverOptions({ proxyProtocol, trustedProxies, headersTimeoutMs: 300 }),
    )
    const overdue = once(server, 'clientError')
    const socket = await openSocket(await listenForTest(server))
    socket.write(version2())
    await overdue
    socket.write(requestText({ headers: [['Connection', 'close']] }))
    expect(readAnswers(await readToEnd(socket)).map(({ status }) => status)).toEqual([200])
  })

  test.each<[how: string, leave: (socket: Socket) => void]>([
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ])('does not report a probe that %s its connection before a header', async (_, leave) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { proxyProtocol, trustedProxies } = OPTIONS
    const reported: unknown[] = []
    const server = createHttpServer(
      async () => ({ status: 200, headers: {}, body: null }),
      serverOptions({ proxyProtocol, trustedProxies, onRefusedConnection: (...refusal) => reported.push(refusal) }),
    )
    const url = await listenForTest(server)
    const accepted = once(server, 'connection')
    const probe = await openSocket(url)
    const [connection] = (await accepted) as [Socket]
    // Not `once` of node:events, which would handle the error of the connection.
    const closed = new Promise((resolve) => connection.once('close', resolve))
    leave(probe.resume())
    await closed
    // The time for a header is over.
    vi.advanceTimersByTime(3_000)
    expect(reported).toEqual([])
  })

  test('closes a connection of a listed proxy that does not begin with a header, without an answer', async () => {
    const gateway = await startGateway(OPTIONS)
    expect(await statuses(gateway.url, ['', 'PROXY nonsense\r\n'])).toEqual([undefined, undefined])
  })

  test('reads no header from an unlisted peer', async () => {
    const gateway = await startGateway({ ...OPTIONS, trustedProxies: ['192.0.2.0/24'] })
    expect(await statuses(gateway.url, [line('PROXY TCP4 192.0.2.1 198.51.100.1 1 2'), ''])).toEqual([400, 403])
  })
})
