// The receiver of traces, on a connection that is kept open. By node:http: fetch takes twice the time for a large body.
import { once } from 'node:events'

export interface Receiver extends Disposable {
  /** Throws unless it took them. */
  readonly post: (type: string, body: Uint8Array) => Promise<void>
}

export function createReceiver(url: string, headers: Readonly<Record<string, string>>, timeoutMs: number): Receiver {
  const { Agent, request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  /** False when the connection, kept from the last time, was closed by the receiver meanwhile. */
  async function tryPost(type: string, body: Uint8Array): Promise<boolean> {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-type': type, 'content-length': body.byteLength },
      signal: AbortSignal.timeout(timeoutMs),
    })
    // What fails later than it is waited for, fails below.
    sent.on('error', () => {})
    sent.end(body)
    try {
      const [response] = await once(sent, 'response')
      const { statusCode } = response
      response.resume()
      await once(response, 'end')
      if (statusCode < 200 || statusCode >= 300) throw new Error(`the receiver answered ${statusCode}`)
      return true
    } catch (error) {
      if (sent.reusedSocket && Reflect.get(Object(error), 'code') === 'ECONNRESET') return false
      throw error
    }
  }

  return {
    async post(type, body) {
      if (await tryPost(type, body)) return
      if (!(await tryPost(type, body))) throw new Error('the receiver closes its connections')
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}
