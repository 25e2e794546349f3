// Stands between a client and the gateway and writes down what went over the wire, without touching a byte of it.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Recorded {
  readonly method: string
  readonly path: string
  readonly requestHeaders: IncomingHttpHeaders
  readonly requestBody: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As they came over the wire. */
  readonly bytes: Buffer
}

export interface RecordingProxy {
  readonly url: string
  readonly recorded: readonly Recorded[]
}

/** Asks the gateway to say which road each request took: the one header that is added. Closed at the end of the test. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const recorded: Recorded[] = []
  const server = createServer(async (incoming, outgoing) => {
    const [method, path] = [incoming.method ?? '', incoming.url ?? '']
    const body = await buffer(incoming)
    const forwarded = request(`${target}${path}`, { method, headers: { ...incoming.headers, 'gateway-trace': '1' } })
    forwarded.on('error', () => outgoing.destroy())
    forwarded.on('response', async (response) => {
      const bytes = await buffer(response)
      const [status, { headers }] = [response.statusCode ?? 0, response]
      const asked = { method, path, requestHeaders: incoming.headers, requestBody: body.toString() }
      recorded.push({ ...asked, status, headers, bytes })
      outgoing.writeHead(status, response.rawHeaders).end(bytes)
    })
    forwarded.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, recorded }
}
