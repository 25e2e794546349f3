// Rate limits of sign-in: a table of token buckets, one for each operation and owner.
import { GatewayError, type RateLimitState } from '../../errors.ts'
import { createTokenBuckets } from './token-buckets.ts'

/** The owner of a bucket. */
interface LimitSubject {
  /** `networkOf` the client's address. */
  readonly network: string
  /** Canonical. */
  readonly email: string
}

interface LimitRow {
  /** In the `RateLimit` fields. */
  readonly policy: string
  /** The members of the subject that make one bucket, together. */
  readonly by: readonly (keyof LimitSubject)[]
  /** Attempts; `attempts` for the operator's number of attempts, and no limit when that is 0. */
  readonly quota: number | 'attempts'
  readonly windowSeconds: number
}

/**
 * Nobody can lock an owner out: a limit for an email always counts for one network too, so strangers use up only the bucket of
 * their own network. How many mails are sent is bounded in the database, for all gateways together (`decide-code-requests.ts`).
 */
const LIMITS = {
  login: [{ policy: 'login', by: ['network'], quota: 'attempts', windowSeconds: 60 }],
  refresh: [{ policy: 'refresh', by: ['network'], quota: 'attempts', windowSeconds: 60 }],
  /** A code that is presented. */
  code: [
    { policy: 'code', by: ['network'], quota: 60, windowSeconds: 60 },
    { policy: 'code-email', by: ['email', 'network'], quota: 10, windowSeconds: 600 },
  ],
} as const satisfies Readonly<Record<string, readonly LimitRow[]>>

export type LimitedOperation = keyof typeof LIMITS

/** What the limits of an operation ask for. */
type SubjectOf<Operation extends LimitedOperation> = Pick<
  LimitSubject,
  (typeof LIMITS)[Operation][number]['by'][number]
>

export interface RateLimits {
  /** Takes a token of every bucket, or none of any. The states of the empty buckets; empty when none was. */
  readonly take: <O extends LimitedOperation>(operation: O, subject: SubjectOf<O>) => readonly RateLimitState[]
  /** The same, and throws `TOO_MANY_REQUESTS`. */
  readonly require: <O extends LimitedOperation>(operation: O, subject: SubjectOf<O>) => void
}

export interface RateLimitOptions {
  /** 0 for no limit of logins and refreshes. */
  readonly attemptsPerMinute: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export function createRateLimits({ attemptsPerMinute, clock }: RateLimitOptions): RateLimits {
  const tables = new Map(
    Object.entries(LIMITS).map(([operation, rows]) => [operation, rows.flatMap((row: LimitRow) => table(row))]),
  )

  function table(row: LimitRow) {
    const quota = row.quota === 'attempts' ? attemptsPerMinute : row.quota
    return quota > 0 ? [{ ...row, quota, buckets: createTokenBuckets(quota, row.windowSeconds, clock) }] : []
  }

  function take(operation: LimitedOperation, subject: Partial<LimitSubject>): readonly RateLimitState[] {
    const asked = (tables.get(operation) ?? []).map((row) => ({
      row,
      key: row.by.map((member) => subject[member]).join(' '),
    }))
    const empty = asked.flatMap(({ row: { policy, quota, windowSeconds, buckets }, key }): RateLimitState[] => {
      const waitMs = buckets.waitMs(key)
      return waitMs === 0 ? [] : [{ policy, quota, windowSeconds, resetSeconds: Math.ceil(waitMs / 1_000) }]
    })
    if (empty.length === 0) for (const { row, key } of asked) row.buckets.take(key)
    return empty
  }

  return {
    take,
    require(operation, subject) {
      const rateLimits = take(operation, subject)
      if (rateLimits.length === 0) return
      const retryAfterSeconds = Math.max(...rateLimits.map(({ resetSeconds }) => resetSeconds))
      throw new GatewayError('TOO_MANY_REQUESTS', { retryAfterSeconds, rateLimits })
    },
  }
}

/** No limits at all, as the operator wishes. */
export const NO_RATE_LIMITS: RateLimits = { take: () => [], require() {} }
