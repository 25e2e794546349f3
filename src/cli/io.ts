// Defines what a command may use of its process. command-line.ts passes it in.
import type { Readable, Writable } from 'node:stream'

export interface CommandIo {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  /** Whether stderr is a terminal that knows escape codes: a progress line is drawn only on one. */
  readonly isTerminal: boolean
  /** Whether the readable form of the log has no colours. */
  readonly isColourless?: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** What a group of commands receives when it is added to the program. */
export interface CommandContext {
  readonly io: CommandIo
  /** Receives the exit code of the command. */
  readonly onExit: (code: ExitCode) => void
  /** Once this was called, a signal aborts the returned `AbortSignal` instead of ending the process. */
  readonly stopSignal: () => AbortSignal
  /**
   * Called at the end of a long-running command, so that a stalled reader of its output does not keep the process
   * alive.
   */
  readonly leaveUnread: () => void
}

/**
 * 0 done, 1 failed, 2 wrong usage. A command throws `UsageError` for 2, unless a worker has already reported the
 * problem.
 */
export type ExitCode = 0 | 1 | 2
