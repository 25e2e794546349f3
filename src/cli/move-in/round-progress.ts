// Draws the progress line of a round of `follow`: users done so far, and the lag.
import type { CommandIo } from '../io.ts'
import { createLiveLine } from '../progress.ts'

export interface RoundProgress {
  readonly update: (done: number, users: number, lagSeconds: number | null) => void
  readonly clear: () => void
}

/** `lagSeconds` is null until the first user was in sync. */
export function lagInWords(lagSeconds: number | null): string {
  return lagSeconds === null ? 'lag not known yet' : `lag ${lagSeconds.toFixed(1)} s`
}

/** Draws on a terminal only. Otherwise the line about each finished round is enough. */
export function createRoundProgress(io: CommandIo): RoundProgress {
  const line = createLiveLine(io)
  return {
    update: (done, users, lagSeconds) =>
      line.update(() => `following: ${done} of ${users} users, ${lagInWords(lagSeconds)}`),
    clear: line.clear,
  }
}
