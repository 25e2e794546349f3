// Keeps V8 from taking memory for young objects that makes nothing faster, or little.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of both semi-spaces. V8 lets them grow to twice as much, or more, in whatever allocates for long, short-lived or not. */
const MAX_BYTES = 33_554_432
/** A look takes some 4 µs. */
const LOOK_EVERY_MS = 50

/**
 * For the whole process, until disposed of. `--max-semi-space-size` would do the same, but only for who starts Node with it; how
 * fast it grows can be said at any time.
 */
export function limitYoungGeneration(): Disposable {
  let mayGrow = true

  function setGrowth(isAllowed: boolean): void {
    if (isAllowed === mayGrow) return
    mayGrow = isAllowed
    setFlagsFromString(`--semi-space-growth-factor=${isAllowed ? 2 : 1}`)
  }

  const timer = setInterval(() => setGrowth(youngBytes() < MAX_BYTES), LOOK_EVERY_MS).unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      setGrowth(true)
    },
  }
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
