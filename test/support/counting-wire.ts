// A wire to a gateway that counts what goes over it, whoever asks: pages, workers, anything.
import { startRelay } from './relay.ts'

export interface Traffic {
  /** From the gateway, with headers. */
  readonly bytes: number
  /** Of requests. */
  readonly paths: readonly string[]
}

export interface CountingWire {
  readonly url: string
  /** Since the last time it was asked. */
  readonly traffic: () => Traffic
  /** Milliseconds since something went over it. */
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
