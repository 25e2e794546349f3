// What one answer may come to, counted while it is made: past it the execution ends before the memory is taken.
import { GatewayError } from '../../errors.ts'
import { ExecutionAborted } from './execution-aborted.ts'

export interface WriteLimits {
  /** Of the answer, in UTF-16 units (bytes where it is streamed). */
  readonly maxResponseLength: number
  /** Objects of the answer. */
  readonly maxObjects: number
}

export interface WriteBudget {
  /** Counts one object and what it writes by itself. Throws `ExecutionAborted` with `RESPONSE_TOO_LARGE`. */
  readonly addObject: (length: number) => void
  /** Counts text that is none of an object's own: errors, streamed documents. Throws the same. */
  readonly addLength: (length: number) => void
}

export function createWriteBudget({ maxResponseLength, maxObjects }: WriteLimits): WriteBudget {
  let leftLength = maxResponseLength
  let leftObjects = maxObjects

  function refuse(): never {
    throw new ExecutionAborted(new GatewayError('RESPONSE_TOO_LARGE'))
  }

  return {
    addObject(length) {
      leftLength -= length
      leftObjects -= 1
      if (leftLength < 0 || leftObjects < 0) refuse()
    },
    addLength(length) {
      leftLength -= length
      if (leftLength < 0) refuse()
    },
  }
}
