// When a command is to stop, as its process is told.
import cluster from 'node:cluster'

/** What a process is told by its operator. */
export type Signals = Pick<NodeJS.EventEmitter, 'on' | 'once'>

/**
 * Aborted by the first SIGINT or SIGTERM; a second one ends the process as usual. A worker it does not end: it is told by its supervisor, and also by
 * whoever tells all processes at once, as systemd does.
 */
export function stopSignal(signals: Signals): AbortSignal {
  const stop = new AbortController()
  const listen = cluster.isWorker ? 'on' : 'once'
  for (const signal of ['SIGINT', 'SIGTERM'] as const) signals[listen](signal, () => stop.abort())
  return stop.signal
}
