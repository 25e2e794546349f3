// A key that is removed, or sealed anew, while its private part may still lie in the files of the database: said, with what would help.
import { type Awaitable, TracesLeftError } from '../../../store/contract.ts'
import type { CommandIo } from '../../io.ts'

/** Answers what `change` does, or that it is done but for what it left in the files. */
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
  return `the private part may still be in the files of the database (${message}): run vacuum --full when nobody reads an older state`
}
