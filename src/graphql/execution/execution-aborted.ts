// Ends an execution without data, whatever may be null: a budget is used up.

export class ExecutionAborted extends Error {
  override readonly name = 'ExecutionAborted'
  /** What the client is told. */
  readonly reason: unknown

  constructor(reason: unknown) {
    super('the execution was aborted')
    this.reason = reason
  }
}
