// A client of the balancer. All histories share its keep-alive connections, and it closes one now and then, so that the
// requests of one history reach all nodes.
import { Agent, request } from 'node:http'

/** The gateway must answer within this time, whatever is broken behind it. */
const PATIENCE_MS = 30_000
const CLOSED_PART = 0.1

export interface Answer {
  /** 0 if the connection broke, -1 if nothing arrived for longer than a gateway may take. */
  readonly status: number
  readonly text: string
}

export interface HistoryClient extends Disposable {
  readonly send: (method: string, path: string, accessToken: string | null, body?: object) => Promise<Answer>
}

export function createHistoryClient(url: string, random: () => number): HistoryClient {
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo' })
  return {
    send(method, path, accessToken, body) {
      const content = body === undefined ? '' : JSON.stringify(body)
      const headers = {
        ...(random() < CLOSED_PART ? { connection: 'close' } : {}),
        ...(accessToken === null ? {} : { authorization: `Bearer ${accessToken}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      }
      return new Promise((resolve) => {
        let isSilent = false
        const sent = request(url + path, { method, headers, agent, timeout: PATIENCE_MS }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('close', () =>
            resolve({
              status: response.complete ? (response.statusCode ?? 0) : 0,
              text: Buffer.concat(chunks).toString(),
            }),
          )
        })
        sent.on('timeout', () => {
          isSilent = true
          sent.destroy()
        })
        sent.on('error', () => resolve({ status: isSilent ? -1 : 0, text: '' }))
        sent.end(content)
      })
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}
