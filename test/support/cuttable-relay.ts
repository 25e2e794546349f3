// A way to a server that a test can cut: connections break, or nothing passes any more.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface CuttableRelay {
  readonly port: number
  /** `broken`: connections end and no new one is taken. `silent`: they stay, and nothing passes, as when packets are dropped. */
  readonly cut: (how: 'broken' | 'silent') => void
  /** What was held back passes now. */
  readonly mend: () => void
}

/** Ended with the test. */
export async function startRelay(port: number): Promise<CuttableRelay> {
  const sockets = new Set<Socket>()
  let state: 'open' | 'broken' | 'silent' = 'open'
  const server = createServer((client) => {
    if (state === 'broken') {
      client.destroy()
      return
    }
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (state === 'silent') from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut(how) {
      state = how
      for (const socket of sockets) {
        if (how === 'broken') socket.destroy()
        else socket.pause()
      }
    },
    mend() {
      state = 'open'
      for (const socket of sockets) socket.resume()
    },
  }
}
