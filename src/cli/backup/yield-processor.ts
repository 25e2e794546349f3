// Work that can wait: a process beside a gateway that lets it have the processor first.
import { readdirSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** A tenth of a processor that others use whole: enough to come to an end. */
const PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL

/** Until it is disposed of, if the system lets the process take it back. */
export function yieldProcessor(): Disposable {
  const before = getPriority()
  prioritize(Math.max(before, PRIORITY))
  return { [Symbol.dispose]: () => prioritize(before) }
}

/** All threads that there are: on Linux each has a priority of its own, and hands it on to those that it starts. */
function prioritize(priority: number): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, priority)
    } catch {
      // It has ended, or only root may.
    }
  }
}

/** 0 is all of the process where threads have no number. */
function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [0]
  }
}
