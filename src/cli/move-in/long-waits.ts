// Reports that a command waits for another server, and why: otherwise a person sees it do nothing for minutes.
import type { CommandIo } from '../io.ts'
import { createLiveLine } from '../progress.ts'

/** Many requests may wait at a time, and a server that limits requests makes each of them wait. */
const REPORT_EVERY_MS = 60_000

/** The returned function takes the reason. It writes at most one line every `REPORT_EVERY_MS`. */
export function createLongWaits(io: Pick<CommandIo, 'stderr' | 'isTerminal'>): (reason: string) => void {
  const progress = createLiveLine(io)
  let reportedAt = Number.NEGATIVE_INFINITY
  return (reason) => {
    const now = performance.now()
    if (now - reportedAt < REPORT_EVERY_MS) return
    reportedAt = now
    progress.clear()
    io.stderr.write(`waiting for the other server: ${reason}\n`)
  }
}
