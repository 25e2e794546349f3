// Records which states of the viewer's workspace the reads of one request have seen.
import type { ExpectedVersion, LiveSession } from '../../store/contract.ts'

export interface ReadStates {
  /** Passed with each read: the expected state version, and the callback for the version that the read saw. */
  readonly expected: ExpectedVersion
  /** Whether all reads so far saw exactly the state that the session lookup saw, and nothing newer. */
  readonly isExpected: () => boolean
  /** Whether the reads so far saw two or more states, because of a write between two reads. */
  readonly isTorn: () => boolean
}

export function createReadStates({ stateVersion }: LiveSession): ReadStates {
  let isExpected = true
  let isTorn = false
  let last: string | null | undefined
  function onRead(found: string | null): void {
    if (found !== stateVersion) isExpected = false
    if (last !== undefined && last !== found) isTorn = true
    last = found
  }
  return {
    expected: { stateVersion, onRead },
    isExpected: () => isExpected,
    isTorn: () => isTorn,
  }
}
