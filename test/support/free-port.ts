// Finds ports that nobody listens on.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the range from which systems assign ports to connections: no connection can take one of these before it is
 * listened on.
 */
const PORTS = { from: 12_000, to: 32_000 }

export async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to)
    const server = createServer()
    const outcome = await new Promise<'listening' | NodeJS.ErrnoException>((resolve) => {
      server
        .once('listening', () => resolve('listening'))
        .once('error', resolve)
        .listen(port, host)
    })
    if (outcome === 'listening') {
      server.close()
      await once(server, 'close')
      return port
    }
    if (outcome.code !== 'EADDRINUSE') throw outcome
  }
}

/** Different ports that nobody listens on. */
export async function freePorts(host: string, count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort(host))
  return [...ports]
}
