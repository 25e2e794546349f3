// Lowers the priority of this process for background work, so that a gateway on the same machine gets the processor
// first.
import { readdirSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** On a fully used processor this leaves a tenth for the process: enough to finish. */
const PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL

/**
 * Lowers the priority until the result is disposed of. Raising it again may fail: some systems allow that only to root.
 */
export function yieldProcessor(): Disposable {
  const before = getPriority()
  prioritize(Math.max(before, PRIORITY))
  return { [Symbol.dispose]: () => prioritize(before) }
}

/** Sets the priority of all threads: on Linux each thread has its own, and the threads that it starts inherit it. */
function prioritize(priority: number): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, priority)
    } catch {
      // The thread has ended, or only root may set this priority.
    }
  }
}

/** Ids of the threads of this process. 0 means the whole process, on systems without /proc. */
function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [0]
  }
}
