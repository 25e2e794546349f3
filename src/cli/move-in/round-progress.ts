// The progress line of a round of follow: how far it is, and the lag of the users that were not read yet.
import type { CommandIo } from '../io.ts'

const REDRAW_MS = 100
const CLEAR_LINE = '\r\u001b[2K'

export interface RoundProgress {
  readonly update: (done: number, users: number, lagSeconds: number | null) => void
  readonly clear: () => void
}

/** Null before anybody was in step. */
export function lagInWords(lagSeconds: number | null): string {
  return lagSeconds === null ? 'lag not known yet' : `lag ${lagSeconds.toFixed(1)} s`
}

/** Drawn on a terminal only: elsewhere each round is a line when it is over. */
export function createRoundProgress({ stderr, isTerminal }: CommandIo): RoundProgress {
  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    update(done, users, lagSeconds) {
      const now = performance.now()
      if (!isTerminal || now - drawnAt < REDRAW_MS) return
      drawnAt = now
      stderr.write(`${CLEAR_LINE}following: ${done} of ${users} users, ${lagInWords(lagSeconds)}`)
    },
    clear() {
      if (isTerminal) stderr.write(CLEAR_LINE)
    },
  }
}
