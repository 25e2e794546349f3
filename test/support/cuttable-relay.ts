// A relay in front of a server that a test can cut: either its connections break, or nothing passes any more.
import { startRelay } from './relay.ts'

export interface CuttableRelay {
  readonly port: number
  /**
   * `broken`: connections end and no new one is accepted. `silent`: they stay open but nothing passes, as when packets
   * are dropped. `ended`: they are ended from here, but nothing that is still sent is taken, as HAProxy does for a server
   * that is down.
   */
  readonly cut: (how: 'broken' | 'silent' | 'ended') => void
  /** Whatever was held back passes now. */
  readonly mend: () => void
  /** How many connections were accepted so far. */
  readonly accepted: () => number
}

/** The relay ends with the test. */
export async function startCuttableRelay(toPort: number): Promise<CuttableRelay> {
  let state: 'open' | 'broken' | 'silent' | 'ended' = 'open'
  let accepted = 0
  const { port, sockets } = await startRelay({
    host: '127.0.0.1',
    port: toPort,
    isOpen: () => state !== 'broken',
    relay(client, upstream) {
      accepted += 1
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
        if (how === 'ended') socket.end()
      }
    },
    mend() {
      state = 'open'
      for (const socket of sockets) socket.resume()
    },
    accepted: () => accepted,
  }
}
