// Measures the memory that this process still holds after a full garbage collection.
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export async function liveBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  // Finalizers release buffers in a later turn.
  for (let round = 0; round < 3; round += 1) {
    collect()
    await delay(50)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
