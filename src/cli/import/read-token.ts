// Reads a token from a file of the operator.
import { UsageError } from '../../errors.ts'
import { readFileOf } from '../configuration/text-file.ts'

const MIN_LENGTH = 32
const TOKEN = /^[\x21-\x7e]+$/

/**
 * Returns the token without surrounding white space. Throws `UsageError`, whose message never contains the content of
 * the file.
 */
export function readToken(path: string, flag: string): string {
  const token = readFileOf(flag, path).trim()
  if (token.length < MIN_LENGTH || !TOKEN.test(token)) {
    throw new UsageError(
      `${flag}: ${path} must hold one token of at least ${MIN_LENGTH} printable characters, such as the output of: openssl rand -hex 32`,
    )
  }
  return token
}
