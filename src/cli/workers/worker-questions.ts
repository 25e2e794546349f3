// Lets a supervisor ask its workers for their metrics and readiness, for the admin port, through messages between
// processes.
import cluster, { type Worker } from 'node:cluster'
import type { Metric } from '../../admin/metrics/metric.ts'

/** Longer than a worker waits for an unavailable database, and shorter than the scrape timeout of Prometheus. */
const PATIENCE_MS = 5_000

export interface WorkerState {
  readonly metrics: readonly Metric[]
  readonly isReady: boolean
}

interface Question {
  readonly stateAsked: number
}

interface Answer extends WorkerState {
  /** The number of the question; 0 in the last, unasked message of a worker. */
  readonly stateAnswered: number
}

function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'stateAsked' in message
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null && 'stateAnswered' in message
}

/** In a worker: answers questions until it is disposed of, and then sends its final totals. */
export function answerSupervisor(state: () => Promise<WorkerState>): AsyncDisposable {
  const { worker } = cluster
  if (!worker) throw new Error('only a worker has a supervisor')

  async function answer(message: unknown): Promise<void> {
    if (isQuestion(message)) worker?.send({ stateAnswered: message.stateAsked, ...(await state()) })
  }

  process.on('message', answer)
  return {
    async [Symbol.asyncDispose]() {
      process.off('message', answer)
      const last: Answer = { stateAnswered: 0, ...(await state()) }
      await new Promise((resolve) => process.send?.(last, resolve))
    },
  }
}

let asked = 0
/** The question that a worker has not answered yet: a hung worker is asked once, however often the port is probed. */
const unanswered = new WeakMap<Worker, Promise<WorkerState | null>>()

/** Asks a worker for its state. Null when it does not answer in time. Callers share a question until it is answered. */
export function askWorker(worker: Worker): Promise<WorkerState | null> {
  const shared = unanswered.get(worker) ?? ask(worker).finally(() => unanswered.delete(worker))
  unanswered.set(worker, shared)
  return shared
}

function ask(worker: Worker): Promise<WorkerState | null> {
  asked += 1
  const question: Question = { stateAsked: asked }
  const { promise, resolve } = Promise.withResolvers<WorkerState | null>()
  const listen = (message: unknown) => {
    if (isAnswer(message) && message.stateAnswered === question.stateAsked) resolve(message)
  }
  const giveUp = () => resolve(null)
  const timer = setTimeout(giveUp, PATIENCE_MS)
  worker.on('message', listen).on('exit', giveUp)
  if (worker.isConnected()) worker.send(question)
  else giveUp()
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', listen).off('exit', giveUp)
  })
}

/** Calls `listener` with the final totals of a worker when it stops. */
export function onFinalState(worker: Worker, listener: (state: WorkerState) => void): void {
  worker.on('message', (message: unknown) => {
    if (isAnswer(message) && message.stateAnswered === 0) listener(message)
  })
}
