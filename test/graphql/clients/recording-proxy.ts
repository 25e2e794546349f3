// A proxy between a client and the gateway that records requests and answers.
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenForTest } from '../../support/listen-for-test.ts'

export interface Recorded {
  readonly method: string
  readonly path: string
  readonly requestHeaders: IncomingHttpHeaders
  readonly requestBody: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The bytes as they came over the wire. */
  readonly bytes: Buffer
}

export interface RecordingProxy {
  readonly url: string
  readonly recorded: readonly Recorded[]
}

/** Forwards requests and asks the gateway to say how it made each answer. Closed at the end of the test. */
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
  return { url: await listenForTest(server), recorded }
}
