// Ends workers: tells each one to end, and kills those that do not end in time.
import type { Worker } from 'node:cluster'
import type { Logger } from 'pino'

export interface WorkerEndings {
  /**
   * Tells a worker to end, by SIGTERM unless `tell` does it otherwise, and resolves when it has ended. It is told only
   * once, because a second SIGTERM would not let it finish.
   */
  readonly end: (worker: Worker, tell?: (worker: Worker) => void) => Promise<void>
  /** Kills a worker that has not answered for `timeoutMs`. */
  readonly kill: (worker: Worker, timeoutMs: number) => void
}

export function createWorkerEndings(endTimeoutMsOf: (worker: Worker) => number, log: Logger): WorkerEndings {
  const endings = new WeakMap<Worker, Promise<void>>()

  function kill(worker: Worker, timeoutMs: number): void {
    log.error({ pid: worker.process.pid, timeoutSeconds: timeoutMs / 1_000 }, 'a worker does not answer: ending it')
    worker.process.kill('SIGKILL')
  }

  return {
    kill,
    end(worker, tell = terminate) {
      if (worker.isDead()) return Promise.resolve()
      const known = endings.get(worker)
      if (known) return known
      const ended = next(worker, 'exit')
      endings.set(worker, ended)
      tell(worker)
      // A hung worker never handles the message or the signal.
      const timeoutMs = endTimeoutMsOf(worker)
      const timer = setTimeout(() => kill(worker, timeoutMs), timeoutMs)
      void ended.then(() => clearTimeout(timer))
      return ended
    },
  }
}

function terminate(worker: Worker): void {
  worker.process.kill('SIGTERM')
}

/** `once` of node:events would reject for an 'error' event, such as that of a message that could not be sent. */
export function next(worker: Worker, event: 'exit' | 'disconnect'): Promise<void> {
  return new Promise((resolve) => void worker.once(event, () => resolve()))
}
