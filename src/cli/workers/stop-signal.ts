// Turns SIGINT and SIGTERM into an AbortSignal that stops a command.
import cluster from 'node:cluster'

const STOPS = ['SIGINT', 'SIGTERM'] as const

/** The source of process signals, and of exceptions that nothing catches. */
export type Signals = Pick<NodeJS.EventEmitter, 'on' | 'off'>

/**
 * The first SIGINT or SIGTERM aborts the returned signal. The next one ends the process as usual, but not a worker: it
 * is signalled by its supervisor, and also by whoever signals all processes at once, as systemd does.
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
