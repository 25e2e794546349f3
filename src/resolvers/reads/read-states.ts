// Which states of the viewer's workspace the reads of one request have met.
import type { ExpectedVersion, LiveSession } from '../../store/contract.ts'

export interface ReadStates {
  /** What each read names, and tells. */
  readonly seen: ExpectedVersion
  /** Whether all that was read so far is of the very state that the session was looked up in, and nothing newer. */
  readonly isExpected: () => boolean
  /** Whether what was read so far is of two states or more: something was written between two reads. */
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
    seen: { stateVersion, onRead },
    isExpected: () => isExpected,
    isTorn: () => isTorn,
  }
}
