// The progress line of a round of follow: how far it is, and the lag of the users that were not read yet.
import type { CommandIo } from '../io.ts'
import { createLiveLine } from '../progress.ts'

export interface RoundProgress {
  readonly update: (done: number, users: number, lagSeconds: number | null) => void
  readonly clear: () => void
}

/** Null before anybody was in step. */
export function lagInWords(lagSeconds: number | null): string {
  return lagSeconds === null ? 'lag not known yet' : `lag ${lagSeconds.toFixed(1)} s`
}

/** Drawn on a terminal only: elsewhere each round is a line when it is over. */
export function createRoundProgress(io: CommandIo): RoundProgress {
  const line = createLiveLine(io)
  return {
    update: (done, users, lagSeconds) =>
      line.update(() => `following: ${done} of ${users} users, ${lagInWords(lagSeconds)}`),
    clear: line.clear,
  }
}
