// A proxy for clients whose servers are exchanged behind it: passes every request on, to each server in turn, and
// reports the answers.
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Answered {
  /** The URL of the server that answered. */
  readonly url: string
  readonly method: string
  /** Without the query string. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly status: number
}

export interface SwitchFront extends AsyncDisposable {
  readonly url: string
  /** Applies from the next request on; the servers take turns. */
  readonly switchTo: (urls: readonly string[]) => void
}

export async function startSwitchFront(
  first: string,
  onAnswered: (answered: Answered) => void = () => {},
): Promise<SwitchFront> {
  let targets: readonly string[] = [first]
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    turn += 1
    const url = targets[turn % targets.length] ?? first
    const { method = 'GET' } = incoming
    const headers = { ...incoming.headers, host: new URL(url).host }
    const onward = request(`${url}${incoming.url}`, { method, headers }, (answer) => {
      const status = answer.statusCode ?? 502
      onAnswered({ url, method, path: incoming.url?.split('?')[0] ?? '', headers: incoming.headers, status })
      outgoing.writeHead(status, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    switchTo(urls) {
      targets = urls
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
