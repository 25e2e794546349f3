// Whether the event loop of a worker turns: its supervisor asks, and ends one that does not answer.
import cluster, { type Worker } from 'node:cluster'

const ASKED = 'does your event loop turn?'
const ANSWERED = 'my event loop turns'
/** Counted in questions and not in time: of a machine that was suspended nobody is late. */
const QUESTIONS_PER_TIMEOUT = 4

/** In a worker: for as long as it lives. */
export function answerHeartbeats(): void {
  process.on('message', (message) => {
    if (message === ASKED) cluster.worker?.send(ANSWERED)
  })
}

/** Calls `onHung` once, when nothing was answered for `timeoutMs`, and up to a quarter more. Watches until it is disposed of, or the worker ends. */
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
