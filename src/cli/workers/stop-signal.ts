// When a command is to stop, as its process is told.
import cluster from 'node:cluster'

const STOPS = ['SIGINT', 'SIGTERM'] as const

/** What a process is told by its operator. */
export type Signals = Pick<NodeJS.EventEmitter, 'on' | 'off'>

/**
 * Aborted by the first SIGINT or SIGTERM; the next, of either, ends the process as usual. A worker it does not end: it is told by its supervisor, and also by
 * whoever tells all processes at once, as systemd does.
 */
export function stopSignal(signals: Signals): AbortSignal {
  const stop = new AbortController()
  for (const signal of STOPS) signals.on(signal, onStop)
  return stop.signal

  function onStop(): void {
    stop.abort()
    if (!cluster.isWorker) for (const signal of STOPS) signals.off(signal, onStop)
  }
}
