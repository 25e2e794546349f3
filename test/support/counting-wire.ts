// A wire to a gateway that counts what goes over it, whoever asks: pages, workers, anything.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

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
  const { hostname, port } = new URL(url)
  let bytes = 0
  let paths: string[] = []
  let lastAt = performance.now()
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const gateway = connect(Number(port), hostname)
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
    for (const [socket, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    traffic() {
      const counted = { bytes, paths }
      bytes = 0
      paths = []
      return counted
    },
    quietMs: () => performance.now() - lastAt,
  }
}
