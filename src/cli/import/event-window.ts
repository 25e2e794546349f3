// Limits how many events of an import wait for its client: the thread that imports stops sending until they are taken.
import type { MessagePort, Worker } from 'node:worker_threads'
import type { ImportEvent } from '../../import-export/run-import.ts'

/** Events of users and bad lines that are sent and not taken. There are as many of these as the input has lines. */
export const MAX_UNTAKEN = 256
/** Taken events are reported to the thread by this number: a message for each would cost more than the event. */
const REPORTED_TOGETHER = 64

/** What the gateway tells the thread. */
type Message = 'stop' | 'taken'

/** The database could not be used. The cause is for the log only. */
export type Outage = Extract<ImportEvent, { type: 'failed' }> & { readonly cause: string }

/** What the thread tells the gateway. */
export type ThreadEvent = ImportEvent | Outage

export interface EventSender {
  /** Resolves once the next event may be sent. Rejects with the reason of `stop` when that comes first. */
  readonly emit: (event: ThreadEvent) => Promise<void>
  readonly stop: AbortSignal
}

/** For the thread. Only an event that waits keeps the thread alive. */
export function createEventSender(port: MessagePort): EventSender {
  const stopping = new AbortController()
  let untaken = 0
  let resume: (() => void) | null = null

  port.on('message', (message: Message) => {
    if (message === 'stop') stopping.abort()
    else untaken -= REPORTED_TOGETHER
    resume?.()
  })
  port.unref()

  async function waitForRoom(): Promise<void> {
    port.ref()
    while (untaken >= MAX_UNTAKEN && !stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    }
    port.unref()
    stopping.signal.throwIfAborted()
  }

  return {
    stop: stopping.signal,
    async emit(event) {
      port.postMessage(event)
      if (!isLimited(event)) return
      untaken += 1
      if (untaken >= MAX_UNTAKEN) await waitForRoom()
    },
  }
}

export interface EventReceiver {
  /** Called for each event that the client has taken. */
  readonly onTaken: (event: ImportEvent) => void
  readonly stop: () => void
}

/** For the gateway. */
export function createEventReceiver(worker: Worker): EventReceiver {
  let taken = 0
  const tell = (message: Message) => worker.postMessage(message)
  return {
    onTaken(event) {
      if (!isLimited(event)) return
      taken += 1
      if (taken % REPORTED_TOGETHER === 0) tell('taken')
    },
    stop: () => tell('stop'),
  }
}

/** The others are few: one outcome, and progress a few times a second. */
function isLimited({ type }: ImportEvent): boolean {
  return type === 'user' || type === 'badLine'
}
