// Traces on their way to a receiver: what waits is bounded, and what is lost is counted.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createExporter } from '../../src/admin/tracing/exporter.ts'
import { readTraceSettings } from '../../src/admin/tracing/trace-settings.ts'
import { startRecord } from '../../src/http/request-record.ts'
import type { Reads } from '../../src/resolvers/reads.ts'
import { withTracedReads } from '../../src/resolvers/tracing/traced-reads.ts'
import { createAuthority } from '../support/certificates.ts'
import { serveForTest } from '../support/command-line.ts'
import { ask } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { startReceiver } from './otlp-receiver.ts'

function open(url: string, env: Readonly<Record<string, string>> = {}) {
  const settings = readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env })
  if (!settings) throw new Error('no settings')
  const failures: { readonly error: unknown; readonly lost: number }[] = []
  return { failures, exporter: createExporter(settings, '1', (error, lost) => failures.push({ error, lost })) }
}

const span = (id: number) => `{"traceId":"t","spanId":"${id}","name":"n","kind":2,"attributes":[]}`
const idsOf = (receiver: Awaited<ReturnType<typeof startReceiver>>) => receiver.spans().map(({ spanId }) => spanId)

test('spans arrive in their order, in batches of 512 requests, the rest at the end', async () => {
  const receiver = await startReceiver()
  const { exporter, failures } = open(receiver.url)
  const ids = Array.from({ length: 1_200 }, (_, id) => String(id))
  for (const id of ids) exporter.add(span(Number(id)))
  await exporter[Symbol.asyncDispose]()
  expect(idsOf(receiver)).toEqual(ids)
  expect(receiver.exports).toHaveLength(3)
  expect(failures).toEqual([])
})

test('of long ones fewer are sent at once', async () => {
  const receiver = await startReceiver()
  const { exporter } = open(receiver.url)
  const long = Array.from({ length: 300 }, (_, id) => span(id)).join(',')
  for (let request = 0; request < 100; request += 1) exporter.add(long)
  await exporter[Symbol.asyncDispose]()
  expect(receiver.spans()).toHaveLength(30_000)
  expect(receiver.exports.length).toBeGreaterThan(1)
})

test('a receiver that hangs holds up no more than OTEL_BSP_MAX_QUEUE_SIZE requests, and a loss is said once', async () => {
  const held = Promise.withResolvers<void>()
  const receiver = await startReceiver(200, () => held.promise)
  const { exporter, failures } = open(receiver.url, { OTEL_BSP_MAX_QUEUE_SIZE: '1000' })
  for (let id = 0; id < 5_000; id += 1) exporter.add(span(id))
  expect(failures).toHaveLength(1)
  expect(String(failures[0]?.error)).toContain('faster than the receiver')
  held.resolve()
  await exporter[Symbol.asyncDispose]()
  expect(receiver.spans()).toHaveLength(1_000)
  expect(failures).toHaveLength(1)
})

test('a receiver that does not answer in time is given up, and the process goes on', async () => {
  const receiver = await startReceiver(200, () => new Promise(() => {}))
  const { exporter, failures } = open(receiver.url, { OTEL_EXPORTER_OTLP_TIMEOUT: '50' })
  exporter.add(span(1))
  await exporter[Symbol.asyncDispose]()
  expect(failures).toMatchObject([{ lost: 1 }])
})

test('by TLS, whose certificate is looked at', async () => {
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

test('of one request no more than a hundred reads are steps, and all are answered', async () => {
  const record = { ...startRecord(0), steps: [] }
  const { reads } = withTracedReads({ reads: { documentCount: async () => 7 } as unknown as Reads }, record)
  const answers = await Promise.all(
    Array.from({ length: 150 }, () => reads.documentCount({ userId: 1, kind: 'project' })),
  )
  expect(answers).toEqual(answers.map(() => 7))
  expect(record.steps).toHaveLength(100)
})
