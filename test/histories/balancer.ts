// A plain TCP load balancer: every connection goes to a random backend, and a backend that refuses is skipped.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Balancer extends AsyncDisposable {
  readonly url: string
}

/** Calls `ports` for every connection. */
export async function startBalancer(ports: () => readonly number[], random: () => number): Promise<Balancer> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    track(client)
    const all = ports()
    const first = Math.floor(random() * all.length)
    forward(client, [...all.slice(first), ...all.slice(0, first)])
  })

  function track(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }

  function forward(client: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      client.destroy()
      return
    }
    const backend = connect(port, '127.0.0.1')
    track(backend)
    backend.once('connect', () => {
      client.pipe(backend).pipe(client)
      client.on('close', () => backend.destroy())
      backend.on('close', () => client.destroy())
    })
    backend.once('error', () => {
      if (backend.bytesWritten === 0) forward(client, others)
      else client.destroy()
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
