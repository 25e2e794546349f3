// A token that an operator keeps in a file.
import { readFile } from 'node:fs/promises'
import { UsageError } from '../../errors.ts'

const MIN_LENGTH = 32
const TOKEN = /^[\x21-\x7e]+$/

/** Without the line end behind it. Throws `UsageError`, and never says what is in the file. */
export async function readToken(path: string, flag: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag}: cannot read ${path}: ${error.code}`)
  })
  const token = text.trim()
  if (token.length < MIN_LENGTH || !TOKEN.test(token)) {
    throw new UsageError(
      `${flag}: ${path} must hold one token of at least ${MIN_LENGTH} printable characters, such as: openssl rand -hex 32`,
    )
  }
  return token
}
