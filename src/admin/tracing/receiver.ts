// The receiver of traces, on a connection that is kept open. By node:http: fetch takes twice the time for a large body.
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { TraceSettings } from './trace-settings.ts'

export interface Receiver extends Disposable {
  /** Throws unless it took them. */
  readonly post: (type: string, body: Uint8Array) => Promise<void>
}

type ReceiverSettings = Pick<TraceSettings, 'url' | 'headers' | 'timeoutMs' | 'compression'>

export function createReceiver({ url, headers, timeoutMs, compression }: ReceiverSettings): Receiver {
  const { Agent, request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  // By a thread beside that of requests.
  const gzip = promisify(process.getBuiltinModule('node:zlib').gzip)
  const encoding = compression === 'none' ? {} : { 'content-encoding': compression }

  /** False when the connection, kept from the last time, was closed by the receiver meanwhile. */
  async function tryPost(type: string, body: Uint8Array): Promise<boolean> {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, ...encoding, 'content-type': type, 'content-length': body.byteLength },
    })
    // An AbortSignal would cost as much again as the rest of the request.
    const timer = setTimeout(() => sent.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs).unref()
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
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async post(type, plain) {
      const body = compression === 'gzip' ? await gzip(plain) : plain
      if (await tryPost(type, body)) return
      if (!(await tryPost(type, body))) throw new Error('the receiver closes its connections')
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}
