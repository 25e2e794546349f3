// What was thrown becomes a failure of the table: for the answer of any dialect, and for the audit log.
import { GatewayError } from '../errors.ts'
import { StoreReadOnlyError, StoreUnavailableError } from '../store/contract.ts'

/** Whatever is thrown, as a failure of the table: what is not one of ours says nothing of its cause. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof StoreUnavailableError) {
    return new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1, cause: error })
  }
  if (error instanceof StoreReadOnlyError) return new GatewayError('READ_ONLY')
  return new GatewayError('INTERNAL', { cause: error })
}
