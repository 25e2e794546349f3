// Stops the clock, so that time only passes when a test says so.
import { onTestFinished, vi } from 'vitest'

/** Stops `performance.now()` until the end of the test; the returned function moves it on by so many milliseconds. */
export function stopClock(): (milliseconds: number) => void {
  let now = 1_000
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => spy.mockRestore())
  return (milliseconds) => {
    now += milliseconds
  }
}
