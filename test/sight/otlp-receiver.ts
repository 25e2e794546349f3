// An OTLP/HTTP receiver, as a collector is one: it keeps what it is sent as JSON.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

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

/** Until the end of the test; answers everything with `status`, once `ready` says so. */
export async function startReceiver(status = 200, ready: () => Promise<void> = async () => {}) {
  const exports: Export[] = []
  const headers: Readonly<Record<string, unknown>>[] = []
  const server = createServer(async (request, response) => {
    headers.push({ ...request.headers, url: request.url })
    exports.push((await json(request)) as Export)
    await ready()
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
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
