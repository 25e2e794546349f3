// A relay in front of a gateway that counts the traffic of every client: pages, workers, anything.
import { startRelay } from './relay.ts'

export interface Traffic {
  /** Bytes that the gateway sent, headers included. */
  readonly bytes: number
  /** Paths of the requests. */
  readonly paths: readonly string[]
}

export interface CountingWire {
  readonly url: string
  /** Traffic since the last call. */
  readonly traffic: () => Traffic
  /** Milliseconds since the last byte in either direction. */
  readonly quietMs: () => number
}

export async function countingWire(url: string): Promise<CountingWire> {
  const { hostname: host, port } = new URL(url)
  let bytes = 0
  let paths: string[] = []
  let lastAt = performance.now()
  const relay = await startRelay({
    host,
    port: Number(port),
    relay(client, gateway) {
      client.on('data', (chunk) => {
        lastAt = performance.now()
        paths.push(
          ...[...chunk.toString('latin1').matchAll(/^[A-Z]+ (\S+) HTTP\/1\.1\r$/gm)].map(([, path]) => path ?? ''),
        )
      })
      gateway.on('data', (chunk) => {
        lastAt = performance.now()
        bytes += chunk.byteLength
      })
      client.pipe(gateway).pipe(client)
    },
  })
  return {
    url: `http://127.0.0.1:${relay.port}`,
    traffic() {
      const counted = { bytes, paths }
      bytes = 0
      paths = []
      return counted
    },
    quietMs: () => performance.now() - lastAt,
  }
}
