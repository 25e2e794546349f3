// An OTLP/HTTP receiver that acts as a collector and keeps what it receives, as JSON.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { membersOf } from './wire-format.ts'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[]
}

export interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, string>>
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

/** Starts a receiver until the end of the test. It answers everything with `status` and `answer`, once `ready` resolves. */
export async function startReceiver(
  status: number | (() => number) = 200,
  ready: () => Promise<void> = async () => {},
  port = 0,
  added: Readonly<Record<string, string>> = {},
  answer: string | Buffer = '{}',
) {
  const exports: Export[] = []
  const headers: Readonly<Record<string, unknown>>[] = []
  const server = createServer(async (request, response) => {
    headers.push({ ...request.headers, url: request.url })
    const sent = await buffer(request)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    exports.push(request.headers['content-type'] === 'application/json' ? JSON.parse(String(body)) : readExport(body))
    await ready()
    const head = { 'content-type': 'application/json', ...added }
    response.writeHead(typeof status === 'number' ? status : status(), head).end(answer)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const spans = () =>
    exports.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exports, headers, spans }
}

/**
 * Reads an `ExportTraceServiceRequest`. The field numbers are those of opentelemetry-proto: trace.proto and
 * common.proto.
 */
function readExport(body: Buffer): Export {
  return {
    resourceSpans: membersOf(body, 1).map((each) => ({
      resource: { attributes: attributesOf(membersOf(each, 1)[0], 1) },
      scopeSpans: membersOf(each, 2).map((scope) => ({ spans: membersOf(scope, 2).map(readSpan) })),
    })),
  }
}

function readSpan(span: Buffer): Span {
  const [parentSpanId] = membersOf(span, 4)
  const nanos = (number: number) => String(membersOf(span, number)[0]?.readBigUInt64LE())
  return {
    traceId: membersOf(span, 1)[0]?.toString('hex') ?? '',
    spanId: membersOf(span, 2)[0]?.toString('hex') ?? '',
    ...(parentSpanId ? { parentSpanId: parentSpanId.toString('hex') } : {}),
    name: String(membersOf(span, 5)[0]),
    kind: Number(membersOf(span, 6)[0]),
    startTimeUnixNano: nanos(7),
    endTimeUnixNano: nanos(8),
    attributes: attributesOf(span, 9),
  }
}

function attributesOf(message: Buffer | undefined, number: number): readonly Attribute[] {
  return membersOf(message, number).map((pair) => {
    const [value] = membersOf(pair, 2)
    const [stringValue, intValue] = [membersOf(value, 1)[0], membersOf(value, 3)[0]]
    return {
      key: String(membersOf(pair, 1)[0]),
      value: stringValue ? { stringValue: String(stringValue) } : { intValue: String(intValue) },
    }
  })
}
