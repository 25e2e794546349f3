// Detects a worker whose event loop hangs: the supervisor sends heartbeats, and the worker must answer them.
import cluster, { type Worker } from 'node:cluster'

const ASKED = 'does your event loop turn?'
const ANSWERED = 'my event loop turns'
/** Timeouts are counted in heartbeats, not by the clock, so that a suspended machine makes no worker look hung. */
const QUESTIONS_PER_TIMEOUT = 4

/** In a worker: answers heartbeats for its whole life. */
export function answerHeartbeats(): void {
  process.on('message', (message) => {
    if (message === ASKED) cluster.worker?.send(ANSWERED)
  })
}

/**
 * Calls `onHung` once, after the worker has not answered for `timeoutMs` and up to a quarter more. Watches until it is
 * disposed of or the worker exits.
 */
export function watchHeartbeat(worker: Worker, timeoutMs: number, onHung: () => void): Disposable {
  let unanswered = 0
  const timer = setInterval(() => {
    if (unanswered === QUESTIONS_PER_TIMEOUT) {
      clearInterval(timer)
      onHung()
      return
    }
    unanswered += 1
    if (worker.isConnected()) worker.send(ASKED)
  }, timeoutMs / QUESTIONS_PER_TIMEOUT)
  timer.unref()
  worker.on('message', (message: unknown) => {
    if (message === ANSWERED) unanswered = 0
  })
  worker.once('exit', () => clearInterval(timer))
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
