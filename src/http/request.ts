// A request as a plain value: all that the gateway looks at, and nothing of the socket.
import type { Caller } from '../auth/caller.ts'
import type { RequestRecord } from './request-record.ts'

export interface GatewayRequest extends Caller {
  /** As sent: upper case for every method HTTP knows. */
  readonly method: string
  /** Undecoded, without the query. */
  readonly path: string
  /** What follows the first `?`, empty without one. */
  readonly search: string
  readonly isFirstOfConnection: boolean
  /**
   * The whole body, of so many bytes at most where fewer are wanted than of any. Throws `BODY_TOO_LARGE`. To be called once. The memory for
   * bodies that are being received counts it until it is there, and with `heldUntil` until that has settled as well.
   */
  readonly body: (limitBytes?: number, heldUntil?: Promise<unknown>) => Promise<Uint8Array>
  /**
   * The body a piece at a time, however long it is and takes; only for callers that may send such a body. Throws `BAD_REQUEST` when it breaks
   * off, and `REQUEST_TIMEOUT` when nothing comes for a while. In place of `body`, once.
   */
  readonly bodyStream: () => AsyncIterable<Uint8Array>
  /** `stop` is called when the connection has taken the whole answer, or is closed before. */
  readonly onClosed: (stop: () => void) => void
  /** The same one however the request is handed on. */
  readonly record: RequestRecord
}
