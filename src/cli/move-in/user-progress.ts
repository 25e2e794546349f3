// Shows the progress of a command that processes users: users done, bytes, remaining time.
import type { CommandIo } from '../io.ts'
import { createLiveLine, toDuration, toSize } from '../progress.ts'

/** Shortest interval between two lines when stderr is not a terminal. */
const RETELL_MS = 10_000

export interface UserProgress extends Disposable {
  readonly update: (users: number, bytes: number) => void
  /** Writes a separate line above the progress line. */
  readonly say: (line: string) => void
}

/** Redraws one line on a terminal. Otherwise it writes a line every `RETELL_MS`, but none while nothing proceeds. */
export function createUserProgress(io: CommandIo, label: string, total: number): UserProgress {
  const { stderr, isTerminal } = io
  const drawn = createLiveLine(io)
  const start = performance.now()
  let toldAt = start
  let told = { users: 0, bytes: 0 }
  return {
    update(users, bytes) {
      const now = performance.now()
      const isAsTold = users === told.users && bytes === told.bytes
      if (!isTerminal && (isAsTold || now - toldAt < RETELL_MS)) return
      toldAt = now
      told = { users, bytes }
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
