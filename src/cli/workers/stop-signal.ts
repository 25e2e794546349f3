// Turns SIGINT, SIGTERM and the end of a terminal into an AbortSignal that stops a command.
import cluster from 'node:cluster'

const STOPS = ['SIGINT', 'SIGTERM'] as const

/** The source of process signals, and of exceptions that nothing catches. */
export type Signals = Pick<NodeJS.EventEmitter, 'on' | 'off'>

/**
 * The first SIGINT or SIGTERM aborts the returned signal. The next one ends the process as usual, but not a worker: it
 * is signalled by its supervisor, and also by whoever signals all processes at once, as systemd does.
 */
export function stopSignal(signals: Signals): AbortSignal {
  return stopOn(signals, STOPS)
}

/**
 * The same for a command that a person starts: SIGHUP, when its terminal was closed, aborts the signal too. It may come
 * twice, from the shell and from the system, so it never ends the process.
 */
export function stopSignalInTerminal(signals: Signals): AbortSignal {
  return stopOn(signals, [...STOPS, 'SIGHUP'])
}

function stopOn(signals: Signals, names: readonly string[]): AbortSignal {
  const stop = new AbortController()
  for (const name of names) signals.on(name, onStop)
  return stop.signal

  function onStop(): void {
    stop.abort()
    if (!cluster.isWorker) for (const name of STOPS) signals.off(name, onStop)
  }
}
