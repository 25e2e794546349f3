// The progress line of a command that goes through users: how many, how much, how much longer.
import type { CommandIo } from '../io.ts'
import { createLiveLine, toDuration, toSize } from '../progress.ts'

/** Between two lines where there is no terminal to draw on. */
const RETELL_MS = 10_000

export interface UserProgress extends Disposable {
  readonly update: (users: number, bytes: number) => void
  /** A line of its own above the progress. */
  readonly say: (line: string) => void
}

/** Drawn on a terminal; elsewhere a line now and then. */
export function createUserProgress(io: CommandIo, label: string, total: number): UserProgress {
  const { stderr, isTerminal } = io
  const drawn = createLiveLine(io)
  const start = performance.now()
  let toldAt = start
  return {
    update(users, bytes) {
      const now = performance.now()
      if (!isTerminal && now - toldAt < RETELL_MS) return
      toldAt = now
      const seconds = (now - start) / 1_000
      const left = users > 0 ? `, ${toDuration((seconds * (total - users)) / users)} left` : ''
      const line = `${label}: ${users} of ${total} users, ${toSize(bytes)}${left}`
      if (isTerminal) drawn.update(() => line)
      else stderr.write(`${line}\n`)
    },
    say(line) {
      drawn.clear()
      stderr.write(`${line}\n`)
    },
    [Symbol.dispose]: drawn.clear,
  }
}
