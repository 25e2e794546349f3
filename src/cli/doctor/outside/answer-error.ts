// The error for an answer that cannot be read, with the reason in one sentence.

/**
 * Something answers, but its answer cannot be read: no TLS, too slow, too large, or a content coding that cannot be
 * decoded. The message is a sentence for an operator.
 */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

/** OpenSSL writes the reason after the name of the function that failed. */
const OPENSSL_REASON = /:SSL routines:[^:]*:([^:\n]+)/
/** OpenSSL's reasons for bytes that are not a TLS record. */
const NO_TLS = /^wrong version number$|length too long$/

/**
 * Reduces an error of OpenSSL to its reason, without the details for OpenSSL developers. Other errors are returned as
 * they are.
 */
export function withoutOpenssl(error: Error): Error {
  const reason = OPENSSL_REASON.exec(error.message)?.[1]
  if (reason === undefined) return error
  return new AnswerError(
    NO_TLS.test(reason)
      ? 'something answers, but it does not use TLS: try http:// instead of https://'
      : `something answers, but the TLS handshake with it fails: ${reason}`,
  )
}
