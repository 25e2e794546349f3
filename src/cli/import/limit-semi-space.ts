// Keeps V8 from taking memory that makes nothing faster.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of both semi-spaces. V8 would let them grow to three times as much in whatever allocates for long, short-lived or not. */
const MAX_BYTES = 33_554_432

/**
 * To be called now and then. `--max-semi-space-size` would do the same, but only for who starts Node with it; that they
 * grow no further can be said at any time.
 */
export function createYoungGenerationLimit(): () => void {
  let isReached = false
  return () => {
    if (isReached) return
    const { space_size: bytes = 0 } =
      getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space') ?? {}
    if (bytes < MAX_BYTES) return
    setFlagsFromString('--semi-space-growth-factor=1')
    isReached = true
  }
}
