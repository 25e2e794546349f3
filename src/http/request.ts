// The request as a plain value: everything that the gateway reads of it, independent of the socket.
import type { Caller } from '../auth/caller.ts'
import type { RequestRecord } from './request-record.ts'

export interface GatewayRequest extends Caller {
  /** As sent: upper case for every method that HTTP knows. */
  readonly method: string
  /** Not percent-decoded, without the query. */
  readonly path: string
  /** The part after the first `?`; empty without one. */
  readonly search: string
  readonly isFirstOfConnection: boolean
  /**
   * Reads the whole body, once. `limitBytes` lowers the general size limit. Throws `BODY_TOO_LARGE`. The memory budget
   * for incoming bodies counts the body until it is complete and, with `heldUntil`, until that promise has settled too.
   */
  readonly body: (limitBytes?: number, heldUntil?: Promise<unknown>) => Promise<Uint8Array>
  /**
   * Reads the body chunk by chunk, without a limit on its length or duration; only for callers that are allowed to send
   * such a body. Throws `BAD_REQUEST` when the body breaks off, and `REQUEST_TIMEOUT` when nothing arrives for a while.
   * Call it instead of `body`, once.
   */
  readonly bodyStream: () => AsyncIterable<Uint8Array>
  /**
   * Calls `stop` when the connection has taken the whole answer, or is closed before; at once if it is closed. Until
   * then, a client that closes its side of the connection counts as one that has left: both look the same.
   */
  readonly onClosed: (stop: () => void) => void
  /** The same object in every copy of the request. */
  readonly record: RequestRecord
}
