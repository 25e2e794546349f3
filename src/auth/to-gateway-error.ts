// Maps a thrown value to a failure of the table, for REST and GraphQL responses and for the audit log.
import { GatewayError } from '../errors.ts'
import { StoreReadOnlyError, StoreUnavailableError } from '../store/contract.ts'

/** Unknown errors become `INTERNAL`. The message of the result reveals nothing about the cause. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof StoreUnavailableError) {
    return new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1, cause: error })
  }
  if (error instanceof StoreReadOnlyError) return new GatewayError('READ_ONLY')
  return new GatewayError('INTERNAL', { cause: error })
}
