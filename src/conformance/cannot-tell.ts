// Why a check is not tried: something that it needs is not there, or the server is too busy for it.

/** A check needs something that there is not: a session, a project with an export. */
export class CannotTellError extends Error {
  override readonly name: string = 'CannotTellError'
}

/** The server asked to come again later, for longer than a run waits. */
export class BusyError extends CannotTellError {
  override readonly name = 'BusyError'
}
