// What clients talk to while the server behind it is exchanged: a proxy that hands everything on.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SwitchFront extends AsyncDisposable {
  readonly url: string
  /** From the next request on. */
  readonly switchTo: (url: string) => void
}

export async function startSwitchFront(first: string): Promise<SwitchFront> {
  let target = first
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: new URL(target).host }
    const onward = request(`${target}${incoming.url}`, { method: incoming.method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    switchTo(url) {
      target = url
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
