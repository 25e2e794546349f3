// Reasons to skip a check: something that it needs is missing, the server is too busy, or the run was told to stop.

/** A check needs something that is missing: a session, a project with an export. */
export class CannotTellError extends Error {
  override readonly name: string = 'CannotTellError'
}

/** The run was told to stop, and sends no more requests. */
export class StoppedError extends CannotTellError {
  override readonly name = 'StoppedError'
}

/** The server stayed busy for longer than a run waits. */
export class BusyError extends CannotTellError {
  override readonly name = 'BusyError'
}
