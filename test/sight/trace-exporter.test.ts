// Tests the export of traces to a receiver: the queue is bounded, and lost requests are counted.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createExporter } from '../../src/admin/tracing/exporter.ts'
import type { TracedRequest } from '../../src/admin/tracing/spans.ts'
import { readTraceSettings } from '../../src/admin/tracing/trace-settings.ts'
import { startRecord } from '../../src/http/request-record.ts'
import type { Reads } from '../../src/resolvers/reads/reads.ts'
import { withTracedReads } from '../../src/resolvers/tracing/traced-reads.ts'
import { createAuthority } from '../support/certificates.ts'
import { serveForTest } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { ask } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { type Span, startReceiver } from './otlp-receiver.ts'

function open(url: string, env: Readonly<Record<string, string>> = {}, basePath = '') {
  const settings = readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env })
  if (!settings) throw new Error('no settings')
  const failures: { readonly error: unknown; readonly lost: number }[] = []
  const recoveries: number[] = []
  const remarks: unknown[] = []
  const report = {
    onFailure: (error: unknown, lost: number) => void failures.push({ error, lost }),
    onRecovery: (lost: number) => void recoveries.push(lost),
    onPartialSuccess: (said: unknown) => void remarks.push(said),
  }
  return { failures, recoveries, remarks, exporter: createExporter(settings, { version: '1', basePath }, report) }
}

const PROTOCOLS = ['http/protobuf', 'http/json']
/** Longer than everything else that all requests of a route have in common. */
const BASE_PATH = `/${'studio'.repeat(200)}`
/** Retries go on for as long as a test may take. */
const PATIENT = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000' }
const spanIdOf = (id: number) => id.toString(16).padStart(16, '0')

/** Returns an answered request with this many steps. */
function traced(id: number, stepCount = 0): TracedRequest {
  const steps = Array.from({ length: stepCount }, (_, at) => ({
    name: 'store documents',
    startedAt: at,
    endedAt: at + 2,
  }))
  const request = { method: 'GET', client: { scheme: 'http' }, record: { ...startRecord(0), status: 200, steps } }
  return {
    request: request as unknown as TracedRequest['request'],
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: spanIdOf(id),
    parent: null,
    newSpanId: () => spanIdOf(id),
  }
}

/** When `performance.now()` was 0 by the wall clock, which is not `performance.timeOrigin` for long. */
function wallOrigin() {
  const [before, passed, after] = [Date.now(), performance.now(), Date.now()]
  return { earliest: before - passed, latest: after - passed }
}

test('spans follow the clock of the machine after it is set, or after a pause', async () => {
  const receiver = await startReceiver()
  const { exporter } = open(receiver.url)
  exporter.add(traced(1))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  exporter.add(traced(2, 1))
  vi.useRealTimers()
  await exporter[Symbol.asyncDispose]()
  const secondsOf = (id: number, times: (span: Span) => string) =>
    receiver
      .spans()
      .filter(({ spanId }) => spanId === spanIdOf(id))
      .map((span) => Number(times(span)) / 1e9)
  const [before = 0] = secondsOf(1, ({ startTimeUnixNano }) => startTimeUnixNano)
  const after = [
    ...secondsOf(2, ({ startTimeUnixNano }) => startTimeUnixNano),
    ...secondsOf(2, ({ endTimeUnixNano }) => endTimeUnixNano),
  ]
  expect(after).toHaveLength(4)
  // Accurate to the minute: a stopped clock would be behind the real one by at most the time of the test.
  for (const seconds of after) expect(seconds - before).toBeCloseTo(3_600, -2)
})

test.each(PROTOCOLS)(
  'each span arrives once, in batches of 1,024 requests, and the rest at the end: %s',
  async (protocol) => {
    const receiver = await startReceiver()
    const { exporter, failures } = open(receiver.url, { OTEL_EXPORTER_OTLP_PROTOCOL: protocol })
    const ids = Array.from({ length: 1_200 }, (_, id) => id)
    for (const id of ids) exporter.add(traced(id))
    await expect.poll(() => receiver.exports.length).toBe(1)
    await exporter[Symbol.asyncDispose]()
    const arrived = receiver.exports.map(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(({ spanId }) => spanId))),
    )
    expect(arrived.map((batch) => batch.length)).toEqual([1_024, 176])
    expect(arrived.flat().toSorted()).toEqual(ids.map(spanIdOf))
    expect(failures).toEqual([])
  },
)

test('a failing receiver and its recovery are reported once each, with the number of lost requests', async () => {
  let status = 500
  const receiver = await startReceiver(() => status)
  const { exporter, failures, recoveries } = open(receiver.url, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' })
  const sent = async (id: number) => {
    exporter.add(traced(id))
    await expect.poll(() => receiver.exports.length).toBe(id)
  }
  for (const id of [1, 2]) await sent(id)
  status = 200
  for (const id of [3, 4]) await sent(id)
  await exporter[Symbol.asyncDispose]()
  expect(failures).toMatchObject([{ error: { message: 'the receiver answered 500' }, lost: 1 }])
  expect(recoveries).toEqual([2])
})

const JSON_TYPE = 'application/json; charset=utf-8'
const PROTOBUF_TYPE = 'application/x-protobuf'

/** Answers in both forms. In protobuf, field 1 is the partial success, and its fields are the number and the text. */
test.each([
  [JSON_TYPE, '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}', 3, 'too old'],
  [JSON_TYPE, '{"partialSuccess":{"rejectedSpans":3}}', 3, ''],
  [JSON_TYPE, '{"partialSuccess":{"errorMessage":"soon too old"}}', 0, 'soon too old'],
  [PROTOBUF_TYPE, Buffer.from('\x0a\x0c\x08\xac\x02\x12\x07too old', 'latin1'), 300, 'too old'],
  [PROTOBUF_TYPE, Buffer.from('\x0a\x09\x12\x07too old', 'latin1'), 0, 'too old'],
])(
  'a receiver that rejects spans is not sent them again: %s %j',
  async (contentType, answer, rejectedSpans, message) => {
    const receiver = await startReceiver(200, undefined, 0, { 'content-type': contentType }, answer)
    const { exporter, failures, remarks } = open(receiver.url)
    exporter.add(traced(1))
    await exporter[Symbol.asyncDispose]()
    expect(remarks).toEqual([{ rejectedSpans, message }])
    expect([failures, receiver.spans().length]).toEqual([[], 1])
  },
)

test.each([
  [JSON_TYPE, '{}'],
  [JSON_TYPE, '{"partialSuccess":{}}'],
  [JSON_TYPE, '{"partialSuccess":{"rejectedSpans":"0","errorMessage":""}}'],
  [JSON_TYPE, '{"partialSuccess":{"rejectedSpans":"many"}}'],
  [JSON_TYPE, `{"partialSuccess":{"errorMessage":"${'!'.repeat(100_000)}"}}`],
  [JSON_TYPE, 'null'],
  [JSON_TYPE, '<p>accepted</p>'],
  [PROTOBUF_TYPE, ''],
  [PROTOBUF_TYPE, Buffer.from([0x0a, 0])],
  [PROTOBUF_TYPE, Buffer.from([0x0a, 0x80])],
  ['text/html', '<p>accepted</p>'],
])(
  'an answer without a remark, or one that is no message of OTLP, is a success: %s %#',
  async (contentType, answer) => {
    const receiver = await startReceiver(200, undefined, 0, { 'content-type': contentType }, answer)
    const { exporter, failures, remarks } = open(receiver.url, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' })
    for (const id of [1, 2]) exporter.add(traced(id))
    await exporter[Symbol.asyncDispose]()
    expect([failures, remarks, receiver.spans().length]).toEqual([[], [], 2])
  },
)

test.each([429, 502, 503, 504])('a batch that is answered %s is retried, and nothing is lost', async (status) => {
  const statuses = [status, status]
  const receiver = await startReceiver(() => statuses.shift() ?? 200)
  const { exporter, failures, recoveries } = open(receiver.url, { OTEL_BSP_SCHEDULE_DELAY: '0', ...PATIENT })
  exporter.add(traced(1))
  await expect.poll(() => receiver.exports.length).toBe(3)
  await exporter[Symbol.asyncDispose]()
  expect(receiver.spans().map(({ spanId }) => spanId)).toEqual([1, 1, 1].map(spanIdOf))
  expect([failures, recoveries]).toEqual([[], []])
})

test.each(['127.0.0.1', 'localhost'])(
  'a batch for a receiver that has not started is sent once it has: %s',
  async (host) => {
    const port = await freePort('127.0.0.1')
    const { exporter, failures } = open(`http://${host}:${port}`, { OTEL_BSP_SCHEDULE_DELAY: '0', ...PATIENT })
    const refused = Promise.withResolvers<unknown>()
    subscribe('http.client.request.error', refused.resolve)
    onTestFinished(() => void unsubscribe('http.client.request.error', refused.resolve))
    exporter.add(traced(1))
    await refused.promise
    const receiver = await startReceiver(200, undefined, port)
    await expect.poll(() => receiver.spans()).toHaveLength(1)
    await exporter[Symbol.asyncDispose]()
    expect(failures).toEqual([])
  },
)

test('a receiver is not asked before its Retry-After, and a batch that this delays too long is lost', async () => {
  const receiver = await startReceiver(429, undefined, 0, { 'retry-after': '3600' })
  const { exporter, failures } = open(receiver.url, { OTEL_BSP_SCHEDULE_DELAY: '0' })
  exporter.add(traced(1))
  await expect.poll(() => failures).toMatchObject([{ error: { message: 'the receiver answered 429' }, lost: 1 }])
  await exporter[Symbol.asyncDispose]()
  expect(receiver.exports).toHaveLength(1)
})

test('shutdown does not wait for a busy receiver, and tries the rest once', async () => {
  const receiver = await startReceiver(503, undefined, 0, { 'retry-after': '300' })
  const { exporter, failures } = open(receiver.url, {
    OTEL_BSP_SCHEDULE_DELAY: '0',
    ...PATIENT,
  })
  exporter.add(traced(1))
  await expect.poll(() => receiver.exports.length).toBe(1)
  exporter.add(traced(2))
  await exporter[Symbol.asyncDispose]()
  expect(receiver.spans().map(({ spanId }) => spanId)).toEqual([1, 1, 2].map(spanIdOf))
  expect(failures).toMatchObject([{ lost: 1 }])
})

test.each([
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }, 'gzip'],
  [{ OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip', OTEL_EXPORTER_OTLP_COMPRESSION: 'none' }, 'gzip'],
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'none' }, undefined],
])('batches are compressed only on request: %j', async (env, encoding) => {
  for (const protocol of PROTOCOLS) {
    const receiver = await startReceiver()
    const { exporter, failures } = open(receiver.url, { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: protocol })
    for (let id = 0; id < 1_200; id += 1) exporter.add(traced(id))
    await expect.poll(() => receiver.exports.length).toBe(1)
    await exporter[Symbol.asyncDispose]()
    expect(receiver.headers.map((headers) => headers['content-encoding'])).toEqual([encoding, encoding])
    expect(new Set(receiver.spans().map(({ spanId }) => spanId)).size).toBe(1_200)
    expect(failures).toEqual([])
  }
})

test('requests with many steps are split into several batches, and every step arrives', async () => {
  const receiver = await startReceiver()
  const { exporter } = open(receiver.url, { OTEL_BSP_SCHEDULE_DELAY: '0' })
  for (let request = 0; request < 300; request += 1) exporter.add(traced(request, 100))
  // The end of a gateway waits for a few seconds only.
  await expect.poll(() => receiver.spans().length).toBe(300 * 101)
  await exporter[Symbol.asyncDispose]()
  expect(receiver.spans()).toHaveLength(300 * 101)
  expect(receiver.exports.length).toBeGreaterThan(1)
})

test('a step is below the one that encloses it, and two that begin and end together are side by side', async () => {
  const receiver = await startReceiver()
  const { exporter } = open(receiver.url)
  const { request, ...ids } = traced(1)
  const steps = [
    { name: 'one', startedAt: 0, endedAt: 10 },
    { name: 'another', startedAt: 0, endedAt: 10 },
    { name: 'within', startedAt: 2, endedAt: 5 },
  ]
  let id = 1
  const newSpanId = () => {
    id += 1
    return spanIdOf(id)
  }
  exporter.add({ ...ids, newSpanId, request: { ...request, record: { ...request.record, steps } } })
  await exporter[Symbol.asyncDispose]()
  const parents = new Map(receiver.spans().map(({ name, parentSpanId }) => [name, parentSpanId]))
  expect(['one', 'another', 'within'].map((name) => parents.get(name))).toEqual([1, 1, 2].map(spanIdOf))
})

test('protobuf and JSON carry the same spans, for a request with every field and for one with none', async () => {
  const { earliest } = wallOrigin()
  const spans = await Promise.all(
    PROTOCOLS.map(async (protocol) => {
      const receiver = await startReceiver()
      const { exporter } = open(receiver.url, { OTEL_EXPORTER_OTLP_PROTOCOL: protocol }, BASE_PATH)
      const { request, ...ids } = traced(1, 1)
      const longest = {
        ...request,
        client: { ...request.client, scheme: 'https' as const },
        record: {
          ...request.record,
          requestId: 'r'.repeat(128),
          operationName: 'O'.repeat(100),
          route: { method: 'GET', path: '/projects' },
          failureCode: 'UNAVAILABLE' as const,
          status: 503,
          sentBytes: 5_000_000_000,
          durationMs: 12.345,
          isKept: true,
        },
      }
      exporter.add({ ...ids, request: longest, parent: { traceId: ids.traceId, spanId: spanIdOf(9), isSampled: true } })
      exporter.add(traced(2))
      await exporter[Symbol.asyncDispose]()
      return receiver.spans().toSorted((a, b) => a.name.localeCompare(b.name))
    }),
  )
  const [binary = [], json = []] = spans
  // Each exporter measures the wall clock for itself, which moves meanwhile: only the digits show that both carry nanoseconds.
  const comparable = ({ attributes = [], status: _, ...span }: Span & { readonly status?: object }) => ({
    ...span,
    startTimeUnixNano: span.startTimeUnixNano.length,
    endTimeUnixNano: span.endTimeUnixNano.length,
    attributes: attributes.toSorted((a, b) => a.key.localeCompare(b.key)),
  })
  expect(json.map(comparable)).toEqual(binary.map(comparable))
  expect(json.find(({ name }) => name === `GET ${BASE_PATH}/projects`)).toMatchObject({ status: { code: 2 } })
  const [shortest, longest, step] = binary
  const valuesOf = (span: Span | undefined) =>
    Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
  expect(valuesOf(longest)).toEqual({
    'http.request.method': 'GET',
    'url.scheme': 'https',
    'http.response.status_code': '503',
    'workspace_gateway.reply': 'kept',
    'url.path': `${BASE_PATH}/projects`,
    'http.route': `${BASE_PATH}/projects`,
    'http.response.body.size': '5000000000',
    'graphql.operation.name': 'O'.repeat(64),
    'error.type': 'UNAVAILABLE',
    'workspace_gateway.failure_code': 'UNAVAILABLE',
    'workspace_gateway.request_id': 'r'.repeat(128),
  })
  const duration = BigInt(longest?.endTimeUnixNano ?? 0) - BigInt(longest?.startTimeUnixNano ?? 0)
  expect(Math.abs(Number(duration) - 12_345_000)).toBeLessThanOrEqual(1_000)
  // Spans follow the wall clock to some ten milliseconds.
  const started = Number(longest?.startTimeUnixNano) / 1e6
  expect(started).toBeGreaterThan(earliest - 20)
  expect(started).toBeLessThan(wallOrigin().latest + 20)
  expect(longest).toMatchObject({ spanId: spanIdOf(1), parentSpanId: spanIdOf(9), kind: 2 })
  expect(step).toMatchObject({ name: 'store documents', parentSpanId: spanIdOf(1), kind: 1 })
  expect(shortest).toMatchObject({ name: 'GET', spanId: spanIdOf(2) })
  expect(shortest).not.toHaveProperty('parentSpanId')
  expect(valuesOf(shortest)).toEqual({
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'http.response.status_code': '200',
    'workspace_gateway.reply': 'made',
    'http.response.body.size': '0',
  })
})

test('a hanging receiver keeps OTEL_BSP_MAX_QUEUE_SIZE requests at most, and the loss is reported once', async () => {
  const held = Promise.withResolvers<void>()
  const receiver = await startReceiver(200, () => held.promise)
  const { exporter, failures } = open(receiver.url, { OTEL_BSP_MAX_QUEUE_SIZE: '1000' })
  for (let id = 0; id < 5_000; id += 1) exporter.add(traced(id))
  expect(failures).toHaveLength(1)
  expect(String(failures[0]?.error)).toContain('faster than the receiver')
  held.resolve()
  await exporter[Symbol.asyncDispose]()
  expect(receiver.spans()).toHaveLength(1_000)
  expect(failures).toHaveLength(1)
})

test('what arrives while a batch is on its way is sent in one batch, however often its delay has passed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const held = Promise.withResolvers<void>()
  const receiver = await startReceiver(200, () => held.promise)
  const { exporter } = open(receiver.url, PATIENT)
  for (const id of [1, 2, 3]) {
    exporter.add(traced(id))
    vi.advanceTimersByTime(60_000)
    await expect.poll(() => receiver.exports.length).toBe(1)
  }
  held.resolve()
  await expect.poll(() => receiver.spans().length).toBe(3)
  expect(receiver.exports).toHaveLength(2)
  await exporter[Symbol.asyncDispose]()
})

test('a receiver that was too slow has recovered once it accepts a batch during which nothing is lost', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const waiting = [first, second]
  const receiver = await startReceiver(200, async () => waiting.shift()?.promise)
  const { exporter, failures, recoveries } = open(receiver.url, { OTEL_BSP_MAX_QUEUE_SIZE: '2', ...PATIENT })
  for (const id of [1, 2]) exporter.add(traced(id))
  await expect.poll(() => receiver.exports.length).toBe(1)
  exporter.add(traced(3))
  expect(failures).toMatchObject([{ lost: 1 }])
  first.resolve()
  await expect.poll(() => receiver.exports.length).toBe(2)
  expect(recoveries).toEqual([])
  second.resolve()
  await expect.poll(() => recoveries).toEqual([1])
  await exporter[Symbol.asyncDispose]()
})

test.each([
  [{ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3' }, 3],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: '10' }, 5],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4' }, 4],
])('a full batch is sent without waiting for the delay: %j', async (env, size) => {
  const receiver = await startReceiver()
  const { exporter, failures } = open(receiver.url, { OTEL_BSP_SCHEDULE_DELAY: '3600000', ...env })
  for (let id = 0; id < size; id += 1) exporter.add(traced(id))
  await expect.poll(() => receiver.spans()).toHaveLength(size)
  await exporter[Symbol.asyncDispose]()
  expect(failures).toEqual([])
})

test('a receiver that has not answered after OTEL_EXPORTER_OTLP_TIMEOUT is abandoned, and the loss is counted', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const waiting = [...answers]
  const receiver = await startReceiver(200, async () => waiting.shift()?.promise)
  // Much longer than the default.
  const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' }
  const { exporter, failures } = open(receiver.url, env)
  for (const id of [1, 2]) exporter.add(traced(id))
  await expect.poll(() => receiver.exports.length).toBe(1)
  vi.advanceTimersByTime(599_000)
  answers[0]?.resolve()
  await expect.poll(() => receiver.exports.length).toBe(2)
  expect(failures).toEqual([])
  vi.advanceTimersByTime(600_000)
  await expect.poll(() => failures).toMatchObject([{ error: { message: 'no answer in 600000 ms' }, lost: 1 }])
  await exporter[Symbol.asyncDispose]()
  expect(receiver.spans().map(({ spanId }) => spanId)).toEqual([1, 2].map(spanIdOf))
})

test.each([
  ['stalls', () => void vi.advanceTimersByTime(600_000), 'no answer in 600000 ms'],
  ['breaks off', (socket: Socket) => void socket.resetAndDestroy(), 'aborted'],
])('a batch whose answer %s, on a connection that is used again, is not sent again', async (_, end, message) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let received = 0
  let socket = new Socket()
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received += 1
      socket = request.socket
      if (received === 1) response.end('{}')
      else response.writeHead(200, { 'content-length': 100 }).write('{')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  let begun = 0
  const onAnswer = () => {
    begun += 1
  }
  // Published when the head of an answer has arrived.
  subscribe('http.client.response.finish', onAnswer)
  onTestFinished(() => void unsubscribe('http.client.response.finish', onAnswer))
  const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' }
  const { exporter, failures } = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, env)
  for (const id of [1, 2]) exporter.add(traced(id))
  await expect.poll(() => begun).toBe(2)
  end(socket)
  await expect.poll(() => failures).toMatchObject([{ error: { message }, lost: 1 }])
  expect(received).toBe(2)
  await exporter[Symbol.asyncDispose]()
})

test('a batch that is answered with another protocol is lost, and the next one is sent', async () => {
  let received = 0
  const server = createServer(({ socket }, response) => {
    received += 1
    if (received > 1) response.end()
    else socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { exporter, failures, recoveries } = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
  })
  for (const id of [1, 2]) exporter.add(traced(id))
  const message = 'the server switches to another protocol'
  await expect.poll(() => failures).toMatchObject([{ error: { message }, lost: 1 }])
  await expect.poll(() => recoveries).toEqual([1])
  await exporter[Symbol.asyncDispose]()
})

test('shutdown does not wait for a receiver that does not answer, however many batches wait', async () => {
  const receiver = await startReceiver(200, () => new Promise(() => {}))
  const { exporter, failures } = open(receiver.url, { OTEL_EXPORTER_OTLP_TIMEOUT: '600000' })
  for (let id = 0; id < 1_500; id += 1) exporter.add(traced(id))
  await exporter[Symbol.asyncDispose]()
  expect(failures).toMatchObject([{ lost: 1_500 }])
})

test('spans go over TLS, and only to a receiver with a trusted certificate', async () => {
  const authority = createAuthority('Tests')
  const { certificate, key } = authority.sign('receiver', ['127.0.0.1'])
  const bodies: string[] = []
  const server = createTlsServer({ cert: certificate, key }, async (request, response) => {
    bodies.push(await text(request))
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const cwd = temporaryDirectory()
  const trusted = join(cwd, 'authority.pem')
  writeFileSync(trusted, authority.certificate)
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const env of [{ NODE_EXTRA_CA_CERTS: trusted }, { NODE_EXTRA_CA_CERTS: '' }]) {
    const serving = await serveForTest(['--no-demo'], { cwd, env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env } })
    await ask(`${serving.url}/healthz`)
    await serving.kill('SIGTERM')
    expect(serving.stderr().includes('traces cannot be sent')).toBe(env.NODE_EXTRA_CA_CERTS === '')
  }
  expect(bodies).toHaveLength(1)
  expect(bodies[0]).toContain('GET /healthz')
})

test('a request has at most a hundred reads as steps, and all reads are answered', async () => {
  const record = { ...startRecord(0), steps: [] }
  const { reads } = withTracedReads({ reads: { documentCount: async () => 7 } as unknown as Reads }, record)
  const answers = await Promise.all(
    Array.from({ length: 150 }, () => reads.documentCount({ userId: 1, kind: 'project' })),
  )
  expect(answers).toEqual(answers.map(() => 7))
  expect(record.steps).toHaveLength(100)
})
