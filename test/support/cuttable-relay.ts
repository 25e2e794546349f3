// A way to a server that a test can cut: connections break, or nothing passes any more.
import { startRelay } from './relay.ts'

export interface CuttableRelay {
  readonly port: number
  /** `broken`: connections end and no new one is taken. `silent`: they stay, and nothing passes, as when packets are dropped. */
  readonly cut: (how: 'broken' | 'silent') => void
  /** What was held back passes now. */
  readonly mend: () => void
}

/** Ended with the test. */
export async function startCuttableRelay(toPort: number): Promise<CuttableRelay> {
  let state: 'open' | 'broken' | 'silent' = 'open'
  const { port, sockets } = await startRelay({
    host: '127.0.0.1',
    port: toPort,
    isOpen: () => state !== 'broken',
    relay(client, upstream) {
      client.on('data', (chunk) => upstream.write(chunk))
      upstream.on('data', (chunk) => client.write(chunk))
      if (state === 'silent') for (const socket of [client, upstream]) socket.pause()
    },
  })
  return {
    port,
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
