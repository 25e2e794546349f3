// Asks a server that is busy again: after as long as it says, and in all for no longer than a minute.
import { setTimeout as delay } from 'node:timers/promises'
import { isSaidToBeBusy, pauseMs, retryAfterMs } from '../import-export/remote/retry.ts'
import { BusyError } from './cannot-tell.ts'
import type { ProbeAnswer, ProbeRequest } from './exchange.ts'

type Send = (request: ProbeRequest) => Promise<ProbeAnswer>

/** What all requests together wait for. */
const PATIENCE_MS = 60_000
/** Of a request that is answered 503 without `Retry-After`: it may be broken, and not busy. */
const MAX_UNTOLD_ATTEMPTS = 3

/** Throws `BusyError`, and what `send` throws. `pause` takes milliseconds. */
export function createPatientSend(send: Send, pause: (ms: number) => Promise<void> = delay): Send {
  let leftMs = PATIENCE_MS
  let pausing: Promise<void> | null = null

  /** False for longer than there is patience. A server that is busy is so for all: requests at once wait together. */
  async function wait(ms: number): Promise<boolean> {
    if (!pausing) {
      if (ms > leftMs) return false
      leftMs -= ms
      pausing = pause(ms).finally(() => {
        pausing = null
      })
    }
    await pausing
    return true
  }

  return async (request) => {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await send(request)
      const isBusy = saysBusy(answer)
      if (!isBusy && (answer.status !== 503 || attempt + 1 >= MAX_UNTOLD_ATTEMPTS)) return answer
      if (await wait(pauseAfter(answer, attempt))) continue
      if (isBusy) throw new BusyError(`the server stayed busy: ${nameOf(request)} ${toldBy(answer)}`)
      return answer
    }
  }
}

export function saysBusy({ status, headers }: Pick<ProbeAnswer, 'status' | 'headers'>): boolean {
  return isSaidToBeBusy(status, headers['retry-after'] ?? null)
}

function pauseAfter({ headers }: ProbeAnswer, attempt: number): number {
  const told = { retryAfter: headers['retry-after'] ?? null, date: headers.date ?? null }
  return pauseMs(retryAfterMs(told, Date.now()), attempt)
}

/** Without the query, which names a project. */
function nameOf({ method, path }: ProbeRequest): string {
  return `${method} ${path.split('?')[0]}`
}

function toldBy({ status, headers }: ProbeAnswer): string {
  const told = headers['retry-after']
  return `answered ${status}${told === undefined ? '' : ` (Retry-After: ${told})`}`
}
