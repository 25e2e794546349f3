// Warns when a key was removed or re-encrypted but its old private part may still lie in the database files, and says
// what helps.
import { type Awaitable, TracesLeftError } from '../../../store/contract.ts'
import type { CommandIo } from '../../io.ts'

/** Returns the result of `change`, or 'tracesLeft' when the change was made but left bytes in the database files. */
export async function tellTraces<T>({ stderr }: CommandIo, change: () => Awaitable<T>): Promise<T | 'tracesLeft'> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof TracesLeftError)) throw error
    stderr.write(`${tracesInWords(error)}\n`)
    return 'tracesLeft'
  }
}

export function tracesInWords({ message }: TracesLeftError): string {
  return `the private part may still be in the files of the database (${message}): run vacuum --full when no other process reads an older state of the database`
}
