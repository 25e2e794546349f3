// Tests lines of the request log at given times: level and time are those of the request, however close the one before
// was.
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createJsonLine } from '../../src/admin/request-log/line.ts'
import { MAX_LINE_BYTES } from '../../src/admin/request-log/line-bytes.ts'
import { createRequestLog } from '../../src/admin/request-log/request-log.ts'
import { openAccessLog } from '../../src/cli/sight/access-log.ts'
import type { GatewayRequest } from '../../src/http/request.ts'
import { type RequestRecord, startRecord } from '../../src/http/request-record.ts'
import { jsonLines } from '../support/json-lines.ts'

/** Returns a request with everything that a line is made of. */
function answered(
  status: number,
  email: string | null,
  address: string,
  noted: Partial<RequestRecord> = {},
): GatewayRequest {
  const viewer = email === null ? null : { id: 's', email, userId: 1, revision: 1, stateVersion: 'v', client: '' }
  return {
    method: 'GET',
    peer: { isTrustedProxy: false },
    client: { address, scheme: 'http', host: '' },
    record: { ...startRecord(0), status, viewer, ...noted },
  } as unknown as GatewayRequest
}

function openLog() {
  const out = { bytes: Buffer.alloc(64 * MAX_LINE_BYTES), at: 0 }
  let now = 0
  const log = createRequestLog({
    sampleEvery: 1,
    putLine: createJsonLine(),
    salt: 'salt',
    clock: () => now,
    roomForLine: () => out,
    onLeftOut: () => {},
  })
  return {
    observe(at: number, request: GatewayRequest) {
      now = at
      log.observe(request)
    },
    lines: (): readonly Record<string, unknown>[] => jsonLines(out.bytes.toString('latin1', 0, out.at)),
  }
}

test('a line has the level and the time of its request', () => {
  const { observe, lines } = openLog()
  const start = Date.parse('2026-11-25T23:59:59.005Z')
  const times = [0, 0, 5, 94, 993, 994, 995, 995, 1_995, 993, 60_000].map((after) => start + after)
  const statuses = [200, 503, 200, 401, 200, 200, 503, 200, 200, 200, 200]
  times.forEach((time, index) => {
    observe(time, answered(statuses[index] ?? 0, null, '192.0.2.1'))
  })
  expect(lines().map(({ time }) => time)).toEqual(times.map((time) => new Date(time).toISOString()))
  expect(lines().map(({ level }) => level)).toEqual([30, 50, 30, 40, 30, 30, 50, 30, 30, 30, 30])
})

test('a line has the user and the network of its own request, also when a user moves or is unknown', () => {
  const { observe, lines } = openLog()
  observe(0, answered(200, 'a@example.com', '192.0.2.1'))
  observe(0, answered(200, 'b@example.com', '192.0.2.1'))
  observe(0, answered(200, 'a@example.com', '2001:db8:1:2:3:4:5:6'))
  observe(0, answered(200, null, '2001:db8:1:2:3:4:5:6'))
  observe(0, answered(200, 'a@example.com', 'no address'))
  const [a, b, moved, nobody, nowhere] = lines()
  expect(a?.user).toMatch(/^hmac-sha256:[0-9a-f]{32}$/)
  expect(b?.user).not.toBe(a?.user)
  expect([moved?.user, nowhere?.user]).toEqual([a?.user, a?.user])
  expect(nobody).not.toHaveProperty('user')
  expect(lines().map(({ network }) => network)).toEqual([
    '192.0.2.0/24',
    '192.0.2.0/24',
    '2001:db8:1:2::/64',
    '2001:db8:1:2::/64',
    '',
  ])
})

test('a line has the trace of its request, and no more than the beginning of a long operation name', () => {
  const { observe, lines } = openLog()
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  observe(0, answered(200, null, '192.0.2.1', { traceId, operationName: 'x'.repeat(10_000) }))
  observe(0, answered(200, null, '192.0.2.1'))
  const [traced, untraced] = lines()
  expect(traced).toMatchObject({ traceId, operation: 'x'.repeat(64) })
  for (const member of ['traceId', 'operation']) expect(untraced).not.toHaveProperty(member)
})

test('a line that waits for the end of its batch is written when the gateway ends', () => {
  let written = ''
  const output = {
    write(lines: string | Uint8Array) {
      written += Buffer.from(lines).toString()
    },
  }
  const config = { accessLog: 'json', accessLogSample: 1, logLevel: 'info' } as const
  const io = { isTerminal: false, clock: () => 0 }
  const log = openAccessLog(config, 'salt', io, output, pino({ level: 'silent' }))
  log?.observe(answered(200, null, '192.0.2.1'))
  log?.[Symbol.dispose]()
  expect(jsonLines(written)).toMatchObject([{ status: 200 }])
})
