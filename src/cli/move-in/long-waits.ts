// Reports that a command waits for another server, and why: otherwise a person sees it do nothing for minutes.
import type { CommandIo } from '../io.ts'
import { createLiveLine } from '../progress.ts'
import { onceAMinute } from '../sight/once-a-minute.ts'

/**
 * The returned function takes the reason. It writes at most one line a minute: many requests may wait at a time, and a
 * server that limits requests makes each of them wait.
 */
export function createLongWaits(io: Pick<CommandIo, 'stderr' | 'isTerminal'>): (reason: string) => void {
  const progress = createLiveLine(io)
  const isDue = onceAMinute<'wait'>(() => performance.now())
  return (reason) => {
    if (!isDue('wait')) return
    progress.clear()
    io.stderr.write(`waiting for the other server: ${reason}\n`)
  }
}
