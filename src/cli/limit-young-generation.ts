// Keeps V8 from taking memory for young objects that makes nothing faster, or little.
import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of both semi-spaces. V8 lets them grow to four times as much in whatever allocates for a moment, short-lived or not. */
const MAX_BYTES = 33_554_432
/** A look takes some 4 µs. */
const LOOK_EVERY_MS = 50
/** A burst is over by then. */
const BUSY_FOR_MS = 1_000
/** Part of that time in which the event loop was at work. */
const BUSY_PART = 0.7

export interface YoungGenerationLimits {
  /** Of both semi-spaces once the event loop has been busy for a second: with more, what lives for a moment is collected less often. */
  readonly maxBytesWhenBusy?: number
}

/**
 * For the whole process, until disposed of. `--max-semi-space-size` would do the same, but only for who starts Node with it; how
 * fast it grows can be said at any time.
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

/** Whether the event loop was busy in the last of the times that it is watched for; to be called more often. */
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
