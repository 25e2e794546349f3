// Reports the results of comparisons: counts for metrics and the log, and a log line per difference.
import { LRUCache } from 'lru-cache'
import { type CollectMetrics, counter } from '../../admin/metrics/metric.ts'
import { noAnswerInWords } from '../../errors.ts'
import { redact } from '../../redact.ts'
import { OldAwayError, OldSignInError } from './old-errors.ts'

/** Number of differences that are remembered, so that each is logged once. */
const MAX_KNOWN = 10_000
const SUMMARY_EVERY_MS = 60_000
const FAILURE_EVERY_MS = 60_000
const MAX_REF_LENGTH = 100

export interface Difference {
  /** Method and path. */
  readonly route: string
  readonly email: string
  /** The reference of an export; null for other reads. */
  readonly ref: string | null
  /** Statuses of the two responses. */
  readonly ours: number
  readonly old: number
  /** Offset in bytes of the first difference between the bodies; null when the statuses differ. */
  readonly at: number | null
}

/** Why nothing was compared. */
export type SkipReason =
  /** Too many comparisons wait. */
  | 'noRoom'
  /** The old server does not answer. */
  | 'oldAway'
  /** The old server does not sign the user in. */
  | 'oldSignIn'
  /** This gateway refused: the token has expired, or too many bytes are in flight. */
  | 'notAnsweredHere'
  /** A response broke off. */
  | 'brokenOff'

export interface ShadowCounts {
  readonly equal: number
  /** How many of `equal` were compared only up to the limit. */
  readonly cut: number
  readonly different: number
  readonly skipped: Readonly<Record<SkipReason, number>>
}

/** Writes to the log. `user` is the keyed hash of the email, as in the audit log. */
export interface ShadowLog {
  readonly difference: (found: Omit<Difference, 'email'> & { readonly user: string }) => void
  /** The counts since the start: once a minute and at the end, if they have changed. */
  readonly summary: (counts: ShadowCounts) => void
  /** Why the old server gave no answer: at most once a minute. */
  readonly failure: (reason: string) => void
}

export interface ShadowReport extends Disposable {
  readonly equal: (isCut: boolean) => void
  readonly skipped: (reason: SkipReason) => void
  readonly different: (found: Difference) => void
  /** The old server gave no answer to a comparison or to a client. */
  readonly failed: (error: unknown) => void
  readonly collect: CollectMetrics
}

export function createShadowReport(hashUser: (email: string) => string, log: ShadowLog): ShadowReport {
  const known = new LRUCache<string, true>({ max: MAX_KNOWN })
  const skipped = { noRoom: 0, oldAway: 0, oldSignIn: 0, notAnsweredHere: 0, brokenOff: 0 }
  const counts = { equal: 0, cut: 0, different: 0, skipped }
  let isNew = false
  let failureAt = Number.NEGATIVE_INFINITY

  function summarize(): void {
    if (isNew) log.summary({ ...counts, skipped: { ...skipped } })
    isNew = false
  }

  const timer = setInterval(summarize, SUMMARY_EVERY_MS)
  timer.unref()

  return {
    equal(isCut) {
      counts.equal += 1
      if (isCut) counts.cut += 1
      isNew = true
    },
    skipped(reason) {
      skipped[reason] += 1
      isNew = true
    },
    different({ email, ref, ...found }) {
      counts.different += 1
      isNew = true
      // A client may send any text as a reference.
      const shown = { ...found, user: hashUser(email), ref: ref === null ? null : redact(ref).slice(0, MAX_REF_LENGTH) }
      const key = JSON.stringify(shown)
      if (known.has(key)) return
      known.set(key, true)
      log.difference(shown)
    },
    failed(error) {
      const now = performance.now()
      if (now - failureAt < FAILURE_EVERY_MS) return
      failureAt = now
      log.failure(isInWords(error) ? error.message : noAnswerInWords(error))
    },
    collect: () => [
      counter(
        'workspace_gateway_shadow_comparisons_total',
        'Reads by the result of the comparison with the old server, or by the reason why they were not compared.',
        Object.entries({ equal: counts.equal, different: counts.different, ...skipped }).map(([outcome, value]) => ({
          value,
          labels: { outcome },
        })),
      ),
    ],
    [Symbol.dispose]() {
      clearInterval(timer)
      summarize()
    },
  }
}

/** The message of such an error contains nothing that was sent, except the path. */
function isInWords(error: unknown): error is Error {
  return error instanceof OldSignInError || error instanceof OldAwayError
}
