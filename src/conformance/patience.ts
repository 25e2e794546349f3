// Retries requests to a busy server after the time that it asks for, for at most a minute in total.
import { setTimeout as delay } from 'node:timers/promises'
import { isSaidToBeBusy, pauseMs, retryAfterMs } from '../import-export/remote/retry.ts'
import { BusyError } from './cannot-tell.ts'
import type { ProbeAnswer, ProbeRequest } from './exchange.ts'

type Send = (request: ProbeRequest) => Promise<ProbeAnswer>

/** Maximum time that all requests together wait. */
const PATIENCE_MS = 60_000
/** Attempts of a request that is answered 503 without `Retry-After`: the server may be broken, not busy. */
const MAX_ATTEMPTS_WITHOUT_RETRY_AFTER = 3

/** The returned function throws `BusyError`, and what `send` throws. `pause` takes milliseconds. */
export function createPatientSend(send: Send, pause: (ms: number) => Promise<void> = delay): Send {
  let leftMs = PATIENCE_MS
  let pausing: Promise<void> | null = null

  /**
   * False if the wait is longer than the remaining patience. Concurrent requests share a wait, because the server is
   * busy for all.
   */
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
      if (!isBusy && (answer.status !== 503 || attempt + 1 >= MAX_ATTEMPTS_WITHOUT_RETRY_AFTER)) return answer
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

/** The method and path without the query, which names a project. */
function nameOf({ method, path }: ProbeRequest): string {
  return `${method} ${path.split('?')[0]}`
}

function toldBy({ status, headers }: ProbeAnswer): string {
  const told = headers['retry-after']
  return `answered ${status}${told === undefined ? '' : ` (Retry-After: ${told})`}`
}
