// Rate limits of sign-in: a table of operations, each with token buckets per network or per email and network.
import { GatewayError, type RateLimitState } from '../../errors.ts'
import { createTokenBuckets } from './token-buckets.ts'

/** The values that can form the key of a bucket. */
interface LimitSubject {
  /** Result of `networkOf` for the client's address. */
  readonly network: string
  /** Canonical email. */
  readonly email: string
}

interface LimitRow {
  /** Name of the policy in the `RateLimit` header fields. */
  readonly policy: string
  /** The members of the subject that together form the key of a bucket. */
  readonly by: readonly (keyof LimitSubject)[]
  /** Attempts per window. `attempts` stands for the number that the operator set; 0 of them means no limit. */
  readonly quota: number | 'attempts'
  readonly windowSeconds: number
}

/**
 * Nobody can lock a user out: a limit per email is always per network as well, so strangers use up only the bucket of
 * their own network. The number of mails is bounded in the database, for all gateways together
 * (`decide-code-requests.ts`).
 */
const LIMITS = {
  login: [{ policy: 'login', by: ['network'], quota: 'attempts', windowSeconds: 60 }],
  refresh: [{ policy: 'refresh', by: ['network'], quota: 'attempts', windowSeconds: 60 }],
  /** An attempt to sign in with a mailed code. */
  code: [
    { policy: 'code', by: ['network'], quota: 60, windowSeconds: 60 },
    { policy: 'code-email', by: ['email', 'network'], quota: 10, windowSeconds: 600 },
  ],
} as const satisfies Readonly<Record<string, readonly LimitRow[]>>

export type LimitedOperation = keyof typeof LIMITS

/** The members of the subject that the limits of an operation use. */
type SubjectOf<Operation extends LimitedOperation> = Pick<
  LimitSubject,
  (typeof LIMITS)[Operation][number]['by'][number]
>

export interface RateLimits {
  /**
   * Takes a token from every bucket, or from none. Returns the states of the empty buckets; an empty list means
   * success.
   */
  readonly take: <O extends LimitedOperation>(operation: O, subject: SubjectOf<O>) => readonly RateLimitState[]
  /** The same, but throws `TOO_MANY_REQUESTS` if a bucket is empty. */
  readonly require: <O extends LimitedOperation>(operation: O, subject: SubjectOf<O>) => void
}

export interface RateLimitOptions {
  /** Logins, and separately refreshes, per network; 0 for no limit. */
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

/** Limits nothing, for an operator who turns all limits off. */
export const NO_RATE_LIMITS: RateLimits = { take: () => [], require() {} }
