// Tests traces: their spans, their settings in the variables of OpenTelemetry, and sampling.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readTraceparent } from '../../src/admin/tracing/trace-context.ts'
import { readTraceSettings } from '../../src/admin/tracing/trace-settings.ts'
import { createTracer } from '../../src/admin/tracing/tracer.ts'
import type { GatewayRequest } from '../../src/http/request.ts'
import { startRecord } from '../../src/http/request-record.ts'
import { run, serveForTest } from '../support/command-line.ts'
import { ask, bearer, openSession, postJson } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { type Attribute, startReceiver } from './otlp-receiver.ts'
import { membersOf } from './wire-format.ts'

const DEMO = 'demo@example.com'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

async function startTraced(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const serving = await serveForTest(args, {
    cwd: temporaryDirectory(),
    env: { OTEL_BSP_SCHEDULE_DELAY: '50', ...env },
  })
  const { accessToken } = await openSession(serving.url, DEMO)
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(`${serving.url}${path}`, { headers: { ...bearer(accessToken), ...headers } })
  const graphql = (query: string) => postJson(`${serving.url}/graphql`, { query }, bearer(accessToken))
  return { serving, accessToken, get, graphql }
}

function attributesOf({
  attributes = [],
}: {
  readonly attributes?: readonly Attribute[]
}): Readonly<Record<string, string>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']))
}

describe('with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  test('a trace has the session check, the execution and the store batches of its request, and no secret', async () => {
    const receiver = await startReceiver()
    const { serving, accessToken, graphql, get } = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.version=of-the-shop',
    })
    await graphql('query Mine { me { projects { documentId } } }')
    await get('/projects?hunter2=1')
    expect(await serving.kill('SIGTERM')).toBe(0)
    const spans = receiver.spans()
    const server = spans.find(({ name }) => name === 'POST /graphql')
    expect(attributesOf(server ?? {})).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': '200',
      'graphql.operation.name': 'Mine',
      'workspace_gateway.reply': 'made',
    })
    expect(server?.kind).toBe(2)
    const ofTrace = spans.filter(({ traceId }) => traceId === server?.traceId)
    const named = (name: string) => ofTrace.find((span) => span.name === name)
    expect(named('session check')?.parentSpanId).toBe(server?.spanId)
    expect(named('graphql execute')?.parentSpanId).toBe(server?.spanId)
    const batch = ofTrace.find(({ name }) => name.startsWith('store documents'))
    expect(batch?.parentSpanId).toBe(named('graphql execute')?.spanId)
    expect(spans.find(({ name }) => name === 'sign-in')).toBeDefined()
    for (const { startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true)
      expect(Math.abs(Number(BigInt(startTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(300_000)
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(attributesOf(receiver.exports[0]?.resourceSpans[0]?.resource ?? {})).toMatchObject({
      'service.name': 'shop',
      'deployment.environment.name': 'test',
      'service.version': 'of-the-shop',
    })
    expect(receiver.headers[0]).toMatchObject({
      url: '/v1/traces',
      'x-key': 'a b',
      'content-type': 'application/x-protobuf',
    })
    for (const secret of [DEMO, accessToken, 'hunter2']) expect(JSON.stringify(receiver.exports)).not.toContain(secret)
  })

  test('a span has the path of its route, and error.type only for 5xx', async () => {
    const receiver = await startReceiver()
    const began = new Date(Date.now() - 60_000).toISOString()
    const { serving, get } = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, [
      '--brownout',
      `/templates=${began}/15m`,
    ])
    const statuses = [
      await get('/projects?secret=hunter2', { authorization: 'Bearer hunter2' }),
      await get('/hunter2'),
      await get('/templates'),
    ].map(({ status }) => status)
    expect(statuses).toEqual([401, 404, 503])
    await serving.kill('SIGTERM')
    const ofStatus = (status: number) =>
      receiver
        .spans()
        .map(attributesOf)
        .find((each) => each['http.response.status_code'] === String(status))
    expect(ofStatus(401)).toMatchObject({
      'url.path': '/projects',
      'workspace_gateway.failure_code': 'INVALID_TOKEN',
    })
    expect(ofStatus(401)).not.toHaveProperty('error.type')
    expect(ofStatus(404)).toMatchObject({ 'workspace_gateway.failure_code': 'NOT_FOUND' })
    for (const name of ['error.type', 'url.path']) expect(ofStatus(404)).not.toHaveProperty(name)
    expect(ofStatus(503)).toMatchObject({ 'url.path': '/templates', 'error.type': 'ROUTE_BROWNOUT' })
    expect(JSON.stringify(receiver.exports)).not.toContain('hunter2')
  })

  test('a method of WebDAV is _OTHER, as in the metrics, beside what the client sent', async () => {
    const receiver = await startReceiver()
    const { serving } = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
    for (const path of ['/projects', '/nowhere']) await ask(`${serving.url}${path}`, { method: 'PROPFIND' })
    await ask(`${serving.url}/projects`, { method: 'PUT' })
    await serving.kill('SIGTERM')
    const spans = new Map(receiver.spans().map((span) => [span.name, attributesOf(span)]))
    const other = { 'http.request.method': '_OTHER', 'http.request.method_original': 'PROPFIND' }
    for (const name of ['HTTP /projects', 'HTTP']) expect(spans.get(name), name).toMatchObject(other)
    expect(spans.get('PUT /projects')).toMatchObject({ 'http.request.method': 'PUT' })
    expect(spans.get('PUT /projects')).not.toHaveProperty('http.request.method_original')
    expect([...spans.keys()].join()).not.toContain('PROPFIND')
  })

  test('a trace of the caller continues, and the caller decides whether it is recorded', async () => {
    const receiver = await startReceiver()
    const { serving, get } = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    })
    await get('/projects')
    await get('/projects', { traceparent: `00-${TRACE}-${SPAN}-00` })
    await get('/templates', { traceparent: `00-${TRACE}-${SPAN}-01` })
    await serving.kill('SIGTERM')
    const server = receiver.spans().filter(({ kind }) => kind === 2)
    expect(server).toMatchObject([{ name: 'GET /templates', traceId: TRACE, parentSpanId: SPAN }])
  })

  test('a failing receiver is reported once, and fails no request', async () => {
    const receiver = await startReceiver(500)
    const { serving, get } = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
    await expect.poll(() => receiver.exports.length).toBeGreaterThan(0)
    expect((await get('/projects')).status).toBe(200)
    await expect.poll(() => receiver.exports.length).toBeGreaterThan(1)
    await serving.kill('SIGTERM')
    const said = serving.stderr().match(/^.*traces cannot be sent.*$/gm)
    expect(said).toHaveLength(1)
    expect(JSON.parse(said?.[0] ?? '')).toMatchObject({ level: 40, reason: 'the receiver answered 500' })
    expect(serving.stderr()).not.toContain('stack')
  })

  test('spans that the receiver rejects are reported at most once a minute, with its reason and their number', async () => {
    const partialSuccess = { rejectedSpans: '2', errorMessage: 'ana@example.com sends too much\n' }
    const receiver = await startReceiver(200, undefined, 0, {}, JSON.stringify({ partialSuccess }))
    const { serving, get } = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
    for (const exported of [0, 1]) {
      await get('/projects')
      await expect.poll(() => receiver.exports.length).toBeGreaterThan(exported)
    }
    await serving.kill('SIGTERM')
    const said = serving.stderr().match(/^.*rejects spans.*$/gm)
    expect(said).toHaveLength(1)
    const reason = expect.stringMatching(/^\[email\] sends too much/)
    expect(JSON.parse(said?.[0] ?? '')).toMatchObject({ level: 40, reason, rejected: 2 })
    expect(serving.stderr()).not.toContain('traces cannot be sent')
  })

  test('spans are encoded with the field numbers and types of opentelemetry-proto', async () => {
    const bodies: Buffer[] = []
    const types: unknown[] = []
    const server = createServer(async (request, response) => {
      types.push(request.headers['content-type'])
      bodies.push(await buffer(request))
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { serving, get } = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_SERVICE_NAME: 'shép',
    })
    await get('/projects', { traceparent: `00-${TRACE}-${SPAN}-01` })
    await serving.kill('SIGTERM')
    expect(new Set(types)).toEqual(new Set(['application/x-protobuf']))
    // The field numbers of opentelemetry-proto: resource_spans 1, resource 1, scope_spans 2, spans 2.
    const resourceSpans = bodies.flatMap((body) => membersOf(body, 1))
    const [resource] = resourceSpans.flatMap((each) => membersOf(each, 1))
    const attributes = membersOf(resource, 1).map((each) => [membersOf(each, 1), membersOf(membersOf(each, 2)[0], 1)])
    expect(attributes.map((pair) => pair.map(String))).toContainEqual(['service.name', 'shép'])
    const spans = resourceSpans.flatMap((each) => membersOf(each, 2)).flatMap((each) => membersOf(each, 2))
    const ofTrace = spans.filter((span) => Buffer.from(membersOf(span, 1)[0] ?? '').toString('hex') === TRACE)
    const received = ofTrace.find((span) => String(membersOf(span, 5)) === 'GET /projects')
    expect(membersOf(received, 4).map((id) => Buffer.from(id).toString('hex'))).toEqual([SPAN])
    // The kind is SPAN_KIND_SERVER.
    expect(membersOf(received, 6).map(Number)).toEqual([2])
    const [start = 0n, end = 0n] = [7, 8]
      .flatMap((number) => membersOf(received, number))
      .map((bytes) => bytes.readBigUInt64LE())
    expect([end >= start, Math.abs(Number(start / 1_000_000n) - Date.now()) < 300_000]).toEqual([true, true])
    const status = membersOf(received, 9).find((each) => String(membersOf(each, 1)) === 'http.response.status_code')
    expect(membersOf(membersOf(status, 2)[0], 3).map(Number)).toEqual([200])
    const children = ofTrace.filter((span) =>
      membersOf(span, 4).some((id) => id.equals(membersOf(received, 2)[0] ?? id)),
    )
    expect(children.map((span) => String(membersOf(span, 5)))).toContain('session check')
  })

  test("a caller's trace is not continued with OTEL_PROPAGATORS=none", async () => {
    const receiver = await startReceiver()
    const { serving, get } = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_PROPAGATORS: 'none',
    })
    await get('/projects', { traceparent: `00-${TRACE}-${SPAN}-00` })
    await serving.kill('SIGTERM')
    const [server] = receiver.spans().filter(({ name }) => name === 'GET /projects')
    expect(server).toBeDefined()
    expect(server).not.toHaveProperty('parentSpanId')
    expect(server?.traceId).not.toBe(TRACE)
  })

  test('a standard variable that would have no effect prevents the start', async () => {
    const { exitCode, stderr } = await run(['serve', '--port', '0'], {
      cwd: temporaryDirectory(),
      env: {
        OTEL_TRACES_EXPORTER: 'jaeger',
        OTEL_PROPAGATORS: 'tracecontext,b3',
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'zstd',
        OTEL_EXPORTER_OTLP_CERTIFICATE: '/etc/authority.pem',
        OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: '/etc/key.pem',
      },
    })
    expect(exitCode).toBe(2)
    expect(stderr.split('\n').toSorted()).toEqual([
      '',
      'OTEL_EXPORTER_OTLP_CERTIFICATE: is not supported: name the file in NODE_EXTRA_CA_CERTS',
      'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: is not supported: authenticate to the receiver with OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: must be none or gzip',
      'OTEL_PROPAGATORS: must be tracecontext or baggage or none, separated by commas',
      'OTEL_TRACES_EXPORTER: must be otlp or none',
    ])
  })

  test('every invalid variable is named at once, and nothing is served', async () => {
    const { exitCode, stderr } = await run(['serve', '--port', '0'], {
      cwd: temporaryDirectory(),
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_TRACES_SAMPLER: 'sometimes',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hunter2,bearer hunter2',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'the key=hunter2',
        OTEL_RESOURCE_ATTRIBUTES: '=hunter2',
      },
    })
    expect(exitCode).toBe(2)
    for (const name of ['ENDPOINT', 'PROTOCOL', 'SAMPLER']) expect(stderr).toContain(name)
    for (const name of ['OTLP_HEADERS', 'OTLP_TRACES_HEADERS', 'RESOURCE_ATTRIBUTES'])
      expect(stderr).toMatch(new RegExp(`^OTEL_\\S*${name}: must be NAME=VALUE pairs, separated by commas$`, 'm'))
    expect(stderr).not.toContain('hunter2')
  })
})

// Node treats a timer of more than 2^31 - 1 ms as one of 1 ms.
test.each(['OTEL_BSP_SCHEDULE_DELAY', 'OTEL_EXPORTER_OTLP_TIMEOUT', 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'])(
  '%s is at most the longest delay of a timer',
  (name) => {
    const read = (value: string) => () => readTraceSettings({ OTEL_TRACES_EXPORTER: 'otlp', [name]: value })
    expect(read('2147483647')).not.toThrow()
    expect(read('2147483648')).toThrow(`${name}: must be a number from 0 to 2147483647`)
  },
)

test('pairs may have spaces around them, be empty between commas, and contain more = in the value', () => {
  const settings = readTraceSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_EXPORTER_OTLP_HEADERS: ' x-key = a=b ,, authorization=Bearer%20x,',
    OTEL_RESOURCE_ATTRIBUTES: 'example.com/zone=,',
  })
  expect(settings?.headers).toEqual({ 'x-key': 'a=b', authorization: 'Bearer x' })
  expect(settings?.resource).toMatchObject({ 'example.com/zone': '' })
})

test('nothing is traced without a receiver, or when a standard variable disables it', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  expect(readTraceSettings({ OTEL_SERVICE_NAME: 'shop' })).toBeNull()
  expect(readTraceSettings({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull()
  expect(readTraceSettings({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeNull()
  for (const exporter of ['none', 'console']) {
    expect(readTraceSettings({ OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: exporter })).toBeNull()
  }
  for (const propagators of ['none', 'tracecontext', 'tracecontext, baggage']) {
    const { isContinued } = readTraceSettings({ ...endpoint, OTEL_PROPAGATORS: propagators }) ?? {}
    expect(isContinued).toBe(propagators !== 'none')
  }
  // This is the default of the standard.
  expect(readTraceSettings({ OTEL_TRACES_EXPORTER: 'otlp' })?.url).toBe('http://localhost:4318/v1/traces')
  expect(readTraceSettings(endpoint)).toMatchObject({
    url: 'http://127.0.0.1:4318/v1/traces',
    ratio: 1,
    isParentBased: true,
    protocol: 'http/protobuf',
  })
  const all = { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }
  expect(readTraceSettings({ ...all, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' })?.protocol).toBe('http/json')
  for (const name of ['grpc', 'http/xml']) {
    const read = () => readTraceSettings({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: name })
    expect(read).toThrow(/OTEL_EXPORTER_OTLP_PROTOCOL: .*http\/protobuf or http\/json/)
  }
})

test.each([
  ['ENDPOINT', 'collector:4318', 'must be like http://127.0.0.1:4318'],
  ['PROTOCOL', 'grpc', 'grpc is not supported'],
  ['COMPRESSION', 'zstd', 'must be none or gzip'],
])('an invalid OTEL_EXPORTER_OTLP_TRACES_%s is reported under its own name', (name, value, reason) => {
  const variable = `OTEL_EXPORTER_OTLP_TRACES_${name}`
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  expect(() => readTraceSettings({ ...endpoint, [variable]: value })).toThrow(`${variable}: ${reason}`)
})

test.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  // Clients of level 2 also set the flag for random trace ids.
  [`00-${TRACE}-${SPAN}-03`, true],
  [`00-${TRACE}-${SPAN}-02`, false],
  [`01-${TRACE}-${SPAN}-01-more`, true],
  [`01-${TRACE}-${SPAN}-01more`, null],
  [`00-${TRACE}-${SPAN}-01-more`, null],
  [`ff-${TRACE}-${SPAN}-01`, null],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, null],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, null],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, null],
  [`00-${TRACE}-${SPAN}"}-01`, null],
  ['', null],
  [undefined, null],
])('traceparent %s is sampled: %s', (value, isSampled) => {
  expect(readTraceparent(value)?.isSampled ?? null).toBe(isSampled)
})

// The expected values are those of the samplers in the SDKs for Go, Python and Ruby.
test.each([
  ['0.5', 'ffffffffffffffff7fffffffffffffff', true],
  ['0.5', '00000000000000018000000000000000', false],
  ['0.5', 'ffffffffffffffff0fffffffffffffff', true],
  ['0.5', '0000000000000001f000000000000000', false],
  ['0.01', 'ffffffffffffffff028f5c28f5c28000', true],
  ['0.01', '0000000000000001028f5c28f5c2a000', false],
  ['0', '00000000000000010000000000000000', false],
  ['1', 'ffffffffffffffffffffffffffffffff', true],
])('at the ratio %s, trace %s is kept: %s', async (ratio, traceId, isKept) => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: ratio,
  }
  const settings = readTraceSettings(env)
  if (!settings) throw new Error('no settings')
  const report = { onFailure() {}, onRecovery() {}, onPartialSuccess() {} }
  await using tracer = createTracer(settings, { version: '1', basePath: '' }, report)
  const record = startRecord(0)
  const header = () => `00-${traceId}-${SPAN}-00`
  tracer.start({ record, header } as unknown as GatewayRequest)
  expect(record.traceId).toBe(isKept ? traceId : null)
})
