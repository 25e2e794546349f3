// Why a check is not tried: something that it needs is not there, the server is too busy for it, or the run is told to stop.

/** A check needs something that there is not: a session, a project with an export. */
export class CannotTellError extends Error {
  override readonly name: string = 'CannotTellError'
}

/** The run is told to stop: it asks for nothing more. */
export class StoppedError extends CannotTellError {
  override readonly name = 'StoppedError'
}

/** The server asked to come again later, for longer than a run waits. */
export class BusyError extends CannotTellError {
  override readonly name = 'BusyError'
}
