// What a command may use of the process it runs in; command-line.ts hands it over.
import type { Readable, Writable } from 'node:stream'

export interface CommandIo {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  /** Whether stderr is a terminal: a progress line is drawn only on one. */
  readonly isTerminal: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** What the commands of a group are given when they are added to the program. */
export interface CommandContext {
  readonly io: CommandIo
  /** Told how the command ended. */
  readonly onExit: (code: ExitCode) => void
  /** From when it is asked for, a signal aborts it and does not end the process. */
  readonly stopSignal: () => AbortSignal
  /** For a command that runs until it is told to stop, at its end: a reader of its output that stands still does not keep the process. */
  readonly leaveUnread: () => void
}

/** 0 done, 1 failed, 2 wrong usage. A command throws a `UsageError` for the last one, unless a worker has said already what is wrong. */
export type ExitCode = 0 | 1 | 2
