// Limits V8's young generation, because beyond a size more memory brings little or no speed.
import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Limit for both semi-spaces together. V8 grows them to four times as much in any process that allocates for a moment.
 */
const MAX_BYTES = 33_554_432
/** Interval of the check. One check takes about 4 µs. */
const LOOK_EVERY_MS = 50
/** Length of the period over which utilization is measured. A short burst ends within it. */
const BUSY_FOR_MS = 1_000
/** Event loop utilization in that period from which the loop counts as busy. */
const BUSY_PART = 0.7

export interface YoungGenerationLimits {
  /** Limit for both semi-spaces while the event loop is busy. A larger young generation is collected less often. */
  readonly maxBytesWhenBusy?: number
}

/**
 * Applies to the whole process until it is disposed of. The flag `--max-semi-space-size` works only at the start of
 * Node, while the growth factor can be changed at any time.
 */
export function limitYoungGeneration({ maxBytesWhenBusy = MAX_BYTES }: YoungGenerationLimits = {}): Disposable {
  const isBusy = watchLoop()
  let mayGrow = true

  function setGrowth(isAllowed: boolean): void {
    if (isAllowed === mayGrow) return
    mayGrow = isAllowed
    setFlagsFromString(`--semi-space-growth-factor=${isAllowed ? 2 : 1}`)
  }

  const timer = setInterval(
    () => setGrowth(youngBytes() < (isBusy() ? maxBytesWhenBusy : MAX_BYTES)),
    LOOK_EVERY_MS,
  ).unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      setGrowth(true)
    },
  }
}

/** Returns whether the event loop was busy in the last full period. Call it several times in each period. */
function watchLoop(): () => boolean {
  let before = performance.eventLoopUtilization()
  let isBusy = false
  return () => {
    const since = performance.eventLoopUtilization(before)
    if (since.idle + since.active >= BUSY_FOR_MS) {
      isBusy = since.utilization >= BUSY_PART
      before = performance.eventLoopUtilization()
    }
    return isBusy
  }
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
