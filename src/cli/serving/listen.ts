// Starts listening, on the configured address or on the socket that the service manager passes in.
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { MachineError } from '../../errors.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { addressOfListener } from './systemd/inherited-socket.ts'
import type { ServiceManager } from './systemd/service-manager.ts'

/** The kernel caps this at net.core.somaxconn. A long backlog keeps the connections that arrive during a restart. */
const MAX_BACKLOG = 65_535

/** What is wrong with a port, and what to do, by the error code. */
const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: choose another with --port, or --port 0 for a free one',
  EACCES:
    'needs rights that this user does not have: choose another with --port, such as 4000, and put a proxy in front of it',
}

/**
 * Replaces host and port with the address of an inherited socket, so that everything that depends on them sees the real
 * one.
 */
export function withInheritedSocket(config: ServeConfig, { listenFd }: ServiceManager): ServeConfig {
  return listenFd === null || cluster.isWorker ? config : { ...config, ...addressOfListener(listenFd) }
}

/** Returns the URL. Throws `MachineError` when it cannot listen. */
export async function listen(server: Server, { host, port }: ServeConfig, listenFd: number | null): Promise<string> {
  if (listenFd === null) server.listen(port, host, MAX_BACKLOG)
  // The backlog is a separate argument: Node ignores the option `backlog` together with `fd`.
  else server.listen({ fd: listenFd }, MAX_BACKLOG)
  await untilListening(server, host, port)
  const { port: actualPort = port } = (server.address() as AddressInfo | null) ?? {}
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`
}

/**
 * Waits until a server that was told to listen does so. Throws `MachineError` when it cannot: the port may be free, and
 * the address there, when a supervisor starts the program again.
 */
export async function untilListening(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const refusal = REFUSALS[code ?? '']
    throw new MachineError(refusal ? `port ${port} on ${host} ${refusal}` : `cannot listen on ${host}: ${message}`)
  }
}
