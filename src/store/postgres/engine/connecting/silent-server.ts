// Tells a server that was lost from one that is busy with a statement: a lost one does not answer a second connection
// either. TCP alone may take a quarter of an hour when the machine was lost before the statement was sent.
import type { Socket } from 'node:net'
import type { Host, PostgresTarget } from '../connection-string.ts'
import { createDriverClient } from './driver-client.ts'

/** How long a server is taken to be busy before the first probe, and between two probes, in connect timeouts. */
const BUSY_CONNECT_TIMEOUTS = 5
/** Unanswered probes in a row, one connect timeout apart, until the server counts as lost. */
const MAX_UNANSWERED = 3
/** Errors of a connect attempt to which nobody responded. A refusal is a response. */
const UNREACHABLE: readonly unknown[] = ['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN']

export interface WatchedServer {
  readonly host: Host
  readonly target: PostgresTarget
  /** The options of that connection, for whatever address. */
  readonly tls: PostgresTarget['tls']
  /** The connection on which an answer is awaited. */
  readonly socket: Socket
  readonly connectTimeoutMs: number
}

/** Calls `giveUp` once the server counts as lost. Returns a function that ends the watch. */
export function watchForSilence(server: WatchedServer, giveUp: () => void): () => void {
  const { socket, connectTimeoutMs } = server
  let bytesRead = socket.bytesRead
  let unanswered = 0
  let hasEnded = false
  let timer = setTimeout(look, BUSY_CONNECT_TIMEOUTS * connectTimeoutMs)

  async function look(): Promise<void> {
    const isAlive = (await isAnswered(server)) || socket.bytesRead > bytesRead
    if (hasEnded) return
    bytesRead = socket.bytesRead
    unanswered = isAlive ? 0 : unanswered + 1
    if (unanswered === MAX_UNANSWERED) giveUp()
    else timer = setTimeout(look, (isAlive ? BUSY_CONNECT_TIMEOUTS : 1) * connectTimeoutMs)
  }

  return () => {
    hasEnded = true
    clearTimeout(timer)
  }
}

/** Whether the address that the connection has reached responds to another one, be it with a refusal. */
async function isAnswered({ host, target, tls, socket, connectTimeoutMs }: WatchedServer): Promise<boolean> {
  // Not the name: it may lead to another server by now.
  const address = { host: socket.remoteAddress ?? host.host, port: host.port }
  const probe = createDriverClient(address, target, 0, tls)
  probe.client.on('error', () => {})
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    probe.socket.destroy()
  }, connectTimeoutMs)
  try {
    await probe.client.connect()
    probe.end(connectTimeoutMs)
    return true
  } catch (error) {
    probe.socket.destroy()
    return !isLate && !(error instanceof Error && 'code' in error && UNREACHABLE.includes(error.code))
  } finally {
    clearTimeout(timer)
  }
}
