// What a supervisor asks its workers for the admin port, and what they answer, as messages between processes.
import cluster, { type Worker } from 'node:cluster'
import type { Metric } from '../../admin/metrics/metric.ts'

/** Longer than a database that is away is waited for; shorter than Prometheus waits. */
const PATIENCE_MS = 5_000

export interface WorkerState {
  readonly metrics: readonly Metric[]
  readonly isReady: boolean
}

interface Question {
  readonly stateAsked: number
}

interface Answer extends WorkerState {
  /** The question's number; 0 is what a worker says last, unasked. */
  readonly stateAnswered: number
}

function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'stateAsked' in message
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null && 'stateAnswered' in message
}

/** In a worker: answers until it is disposed of, which says what it has counted in all. */
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

/** Null when the worker does not answer in time. */
export function askWorker(worker: Worker): Promise<WorkerState | null> {
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

/** Told what a worker has counted in all, when it stops. */
export function onLastWords(worker: Worker, listener: (state: WorkerState) => void): void {
  worker.on('message', (message: unknown) => {
    if (isAnswer(message) && message.stateAnswered === 0) listener(message)
  })
}
