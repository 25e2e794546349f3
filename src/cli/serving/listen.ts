// Where the gateway listens: at its own address, or on the socket that the service manager keeps.
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { UsageError } from '../../errors.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { addressOfListener } from './systemd/inherited-socket.ts'
import type { ServiceManager } from './systemd/service-manager.ts'

/** As many as the kernel lets wait (net.core.somaxconn): they are what a restart has to catch up with. */
const MAX_BACKLOG = 65_535

/** The socket that the service manager keeps has its own address, whatever is configured: what depends on it sees that one. */
export function withInheritedSocket(config: ServeConfig, { listenFd }: ServiceManager): ServeConfig {
  return listenFd === null || cluster.isWorker ? config : { ...config, ...addressOfListener(listenFd) }
}

/** Answers the URL. Throws `UsageError` where it cannot. */
export async function listen(server: Server, { host, port }: ServeConfig, listenFd: number | null): Promise<string> {
  if (listenFd === null) server.listen(port, host, MAX_BACKLOG)
  // As an argument of its own: beside `fd`, Node takes no notice of the option.
  else server.listen({ fd: listenFd }, MAX_BACKLOG)
  await untilListening(server, host, port)
  const { port: actualPort = port } = (server.address() as AddressInfo | null) ?? {}
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`
}

/** Of a server that was told to listen there. Throws `UsageError` where it cannot. */
export async function untilListening(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(
      code === 'EADDRINUSE'
        ? `port ${port} on ${host} is in use: choose another with --port, or --port 0 for a free one`
        : `cannot listen on ${host}: ${message}`,
    )
  }
}
