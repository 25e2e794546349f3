// What this process holds on to, once everything else has been collected.
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export async function liveBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  // Buffers are let go by finalizers, in a later turn.
  for (let round = 0; round < 3; round += 1) {
    collect()
    await delay(50)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
