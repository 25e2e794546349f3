// Turns the errors of opening a database into sentences that tell the operator what to fix.
import { reasonOf } from '../../../../errors.ts'
import { StoreOpenError, StoreUnavailableError } from '../../../contract.ts'
import { sqlState } from '../faults/pg-errors.ts'
import { PasswordMissingError } from '../password/password-file.ts'

/** Distinguishes errors that the operator must fix (`StoreOpenError`) from those that a later retry may cure. */
export function toOpenError(error: unknown): unknown {
  const cause = error instanceof StoreUnavailableError ? error.cause : error
  const root = rootOf(cause)
  if (root instanceof PasswordMissingError || /^(?:28|3D|42501)/.test(sqlState(root))) {
    return new StoreOpenError(`cannot open the database: ${reasonOf(root)}`, { cause: error })
  }
  return error instanceof StoreUnavailableError && cause !== undefined && !error.message.endsWith(reasonOf(cause))
    ? new StoreUnavailableError(`${error.message}: ${reasonOf(cause)}`, { cause: error })
    : error
}

function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error
}
