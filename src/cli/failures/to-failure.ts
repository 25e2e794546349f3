// Maps what a command throws to an exit code and a message.
import { CommanderError } from 'commander'
import { KeyUnreadableError } from '../../auth/tokens/key-cipher.ts'
import { MachineError, UsageError } from '../../errors.ts'
import {
  StoreFaultError,
  StoreFullError,
  StoreNoRoomError,
  StoreNotWritableError,
  StoreOpenError,
  StoreRefusedError,
  StoreSessionLostError,
  StoreUnavailableError,
} from '../../store/contract.ts'
import { isToldOfStdout } from '../process/process-io.ts'
import { toUsageError } from '../read-key-cipher.ts'
import { describeUnexpected } from './unexpected-error.ts'

const WRONG_USAGE = 2
/** An operator who removes data to make room is refused for the same reason. */
const MAKE_ROOM = '. Make room there first, with other files: removing stored data needs room too'

export interface Failure {
  readonly exitCode: number
  /** Null when there is nothing to print, or commander has printed it. */
  readonly message: string | null
}

export function toFailure(error: unknown): Failure {
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : WRONG_USAGE, message: null }
  if (error instanceof KeyUnreadableError) return toFailure(toUsageError(error))
  if (error instanceof UsageError || error instanceof StoreOpenError) {
    return { exitCode: WRONG_USAGE, message: error.message }
  }
  if (error instanceof StoreUnavailableError || error instanceof StoreFaultError) {
    return { exitCode: 1, message: `${error.message}${helpFor(error)}` }
  }
  if (error instanceof MachineError || error instanceof StoreRefusedError) {
    return { exitCode: 1, message: error.message }
  }
  if (isToldOfStdout(error)) return { exitCode: 1, message: null }
  return { exitCode: 1, message: describeUnexpected(error) }
}

function helpFor(error: StoreUnavailableError | StoreFaultError): string {
  if (error instanceof StoreFullError) return MAKE_ROOM
  if (error instanceof StoreNoRoomError) return `${MAKE_ROOM}. To answer reads from it meanwhile: serve --read-only`
  if (error instanceof StoreNotWritableError) return '. To answer reads from it: serve --read-only'
  if (error instanceof StoreSessionLostError) return ': set --database-pooling transaction'
  return ''
}
