// Something answers, and what it answers cannot be read: why, in a sentence.

/** What answers speaks no TLS, or has a coding that cannot be taken off. The message is a sentence for an operator. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

/** OpenSSL names what failed behind the function that it failed in. */
const OPENSSL_REASON = /:SSL routines:[^:]*:([^:\n]+)/
/** What OpenSSL makes of bytes that are no record of TLS. */
const NO_TLS = /^wrong version number$|length too long$/

/** What a connection failed with, without the lines that OpenSSL writes for its own developers. */
export function withoutOpenssl(error: Error): Error {
  const reason = OPENSSL_REASON.exec(error.message)?.[1]
  if (reason === undefined) return error
  return new AnswerError(
    NO_TLS.test(reason)
      ? 'something answers that does not speak TLS: try http:// in place of https://'
      : `something answers, and the TLS handshake with it fails: ${reason}`,
  )
}
