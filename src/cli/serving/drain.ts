// Graceful shutdown of the server: it first tells load balancers, then finishes the requests in flight.
import { once } from 'node:events'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { GatewayServer } from '../../http/server/server.ts'

/** How long connections without a request stay open after SIGTERM. Browsers open some that they may never use. */
const IDLE_GRACE_MS = 500
/** How long connections that wait in the kernel are accepted after SIGTERM, while there are more. */
const MAX_ACCEPTING_MS = 250

/** Goes on serving while `/readyz` answers 503, so that load balancers stop sending before the port is closed. */
export async function untilNoticed(delayMs: number, failed: AbortSignal, log: Logger): Promise<void> {
  if (delayMs === 0) return
  log.info({ delayMs }, 'no longer ready: still serving until load balancers have noticed')
  await delay(delayMs, undefined, { signal: failed }).catch(() => {})
}

/**
 * Graceful shutdown: accepts the connections that wait, and no new ones. Requests in flight, and requests that still
 * arrive on open connections, may finish within `graceMs`. Then all connections are closed, and the log says how many
 * requests that cut off.
 */
export async function drain(server: GatewayServer, graceMs: number, log: Logger): Promise<void> {
  await acceptWaiting(server, Math.min(MAX_ACCEPTING_MS, graceMs))
  log.info('stopping')
  const closed = once(server, 'close')
  // Closes only the listening socket. `http.Server.close` would also close idle connections, which clients may be just
  // about to use. From now on every response closes its connection.
  NetServer.prototype.close.call(server)
  // `setImmediate` lets the event loop read what has arrived: on a busy machine, a connection whose request is still
  // unread looks idle when the timer fires.
  const idle = setTimeout(() => setImmediate(() => server.closeUnused()), Math.min(IDLE_GRACE_MS, graceMs))
  const timer = new AbortController()
  await Promise.race([closed, delay(graceMs, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
  clearTimeout(idle)
  const requests = server.requestsInFlight()
  if (requests > 0) log.warn({ requests, graceMs }, 'requests are cut off: they did not end within --shutdown-grace')
  server.closeAllConnections()
  await closed
}

/**
 * Closing the listening socket resets the connections that only the kernel has accepted, although their clients may have
 * sent requests. Node accepts one in a turn of the event loop, so on a busy machine there are such.
 */
async function acceptWaiting(server: GatewayServer, maxMs: number): Promise<void> {
  let hasMore = true
  const onConnection = () => {
    hasMore = true
  }
  server.on('connection', onConnection)
  const end = performance.now() + maxMs
  // The rest of this turn, which accepts none.
  await nextTurn()
  while (hasMore && performance.now() < end) {
    hasMore = false
    await nextTurn()
  }
  server.off('connection', onConnection)
}
