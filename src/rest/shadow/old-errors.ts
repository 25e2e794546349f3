// The ways in which the old server gives no answer, besides those in which `sendRequest` fails.

/** The old server refused to sign the user in, or returned no token. */
export class OldSignInError extends Error {
  override readonly name = 'OldSignInError'
}

/** The old server, or a proxy in front of it, cannot answer now. */
export class OldAwayError extends Error {
  override readonly name: string = 'OldAwayError'
}

/** The old server is busy until a stated time. Until then no request is sent on behalf of this user. */
export class OldBusyError extends OldAwayError {
  override readonly name = 'OldBusyError'
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
