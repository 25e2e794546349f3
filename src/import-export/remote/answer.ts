// What another server answered to a request, and what that means for the next attempt.
import { kindOfStatus, type RetryFields } from './retry.ts'

export interface RemoteAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/** There was no response, or it broke off. */
export interface NoAnswer {
  readonly status: null
  /** In words, for messages. */
  readonly reason: string
  /** Whether the response was too large: a retry would be as large. */
  readonly isTooLarge: boolean
  /** Whether the server had accepted the connection, which then ended. */
  readonly isBrokenOff: boolean
}

export const TOO_LARGE: NoAnswer = {
  status: null,
  reason: 'the answer is larger than 512 MiB',
  isTooLarge: true,
  isBrokenOff: false,
}

export function kindOf(answer: RemoteAnswer | NoAnswer): ReturnType<typeof kindOfStatus> | 'away' {
  if (answer.status !== null) return kindOfStatus(answer.status)
  return answer.isTooLarge ? 'answer' : 'away'
}

export function retryFieldsOf({ headers }: RemoteAnswer): RetryFields {
  return { retryAfter: headers.get('retry-after'), date: headers.get('date') }
}

/** The contract says 200, but some servers answer a login with 201, and a sign-out with 204. */
export function isSuccess({ status }: Pick<RemoteAnswer | NoAnswer, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}
