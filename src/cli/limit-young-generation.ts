// Keeps V8 from taking memory for young objects that makes nothing faster.
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of both semi-spaces. V8 lets them grow to twice as much in whatever allocates for long, short-lived or not. */
const MAX_BYTES = 33_554_432

/**
 * For the whole process, until disposed of. Looks after each garbage collection, which is when the young generation grows.
 * `--max-semi-space-size` would do the same, but only for who starts Node with it; how fast it grows can be said at any time.
 */
export function limitYoungGeneration(): Disposable {
  let mayGrow = true

  function setGrowth(isAllowed: boolean): void {
    if (isAllowed === mayGrow) return
    mayGrow = isAllowed
    setFlagsFromString(`--semi-space-growth-factor=${isAllowed ? 2 : 1}`)
  }

  const observer = new PerformanceObserver(() => setGrowth(youngBytes() < MAX_BYTES))
  observer.observe({ entryTypes: ['gc'] })
  return {
    [Symbol.dispose]() {
      observer.disconnect()
      setGrowth(true)
    },
  }
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
