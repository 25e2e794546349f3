// Records in a file which users of a long import are done, so that the next run can resume.
import { hash } from 'node:crypto'
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises'
import { throwMachineError, UsageError, unreadable } from '../../errors.ts'

export interface DoneUsers extends AsyncDisposable {
  readonly has: (email: string) => boolean
  /** Resolves once the user is recorded in the file. Throws `MachineError`, for example on a full disk. */
  readonly add: (email: string) => Promise<void>
  /** Removes the file when every user is done. The next run starts from the beginning. */
  readonly forget: () => Promise<void>
}

/** What identifies an import. The state of one import is never used to resume another. */
export interface ImportIdentity {
  readonly from: string
  readonly into: string
  readonly replace: boolean
  /** `idFields` and `refFields` decide how a document is stored. */
  readonly idFields: readonly string[]
  readonly refFields: readonly string[]
}

/**
 * Opens or creates the state file. It holds SHA-256 digests of emails, not the emails. Throws `UsageError` for the
 * state of another import, and `MachineError` when the file cannot be written.
 */
export async function openDoneUsers(path: string, identity: ImportIdentity): Promise<DoneUsers> {
  const head = digest(JSON.stringify(identity))
  const { from, into, replace } = identity
  /** The first line as version 0.3.0 wrote it, without the fields. */
  const earlierHead = digest(JSON.stringify({ from, into, replace }))
  const found = await stat(path).catch(() => null)
  // A device such as /dev/null keeps nothing, and a pipe would be waited for.
  if (found !== null && !found.isFile())
    throw new UsageError(`--state: ${path} is no file: name one that keeps who is done`)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new UsageError(`--state: ${unreadable(path, error)}`)
  })
  const [first = '', ...rest] = text.split('\n')
  // A killed process may leave an incomplete line, even the first one.
  const hasHead = rest.length > 0
  if (hasHead ? first !== head && first !== earlierHead : !head.startsWith(first)) {
    throw new UsageError(
      `--state: ${path} is of another import (another server, database, --replace, --id-fields or --ref-fields): remove it, or name another file`,
    )
  }
  const users = new Set(rest.slice(0, -1))
  const file = await openToAppend(path)
  try {
    if (!hasHead) {
      await file.truncate(0)
      await write(`${head}\n`)
    } else if (!text.endsWith('\n')) {
      // An incomplete line is terminated. It matches no user.
      await write('\n')
    }
  } catch (error) {
    await file.close()
    throw error
  }
  return {
    has: (email) => users.has(digest(email)),
    async add(email) {
      users.add(digest(email))
      await write(`${digest(email)}\n`)
    },
    forget: () => rm(path, { force: true }),
    [Symbol.asyncDispose]: () => file.close(),
  }

  async function write(line: string): Promise<void> {
    await file.appendFile(line).catch(throwMachineError(`--state: cannot write ${path}`))
  }
}

function openToAppend(path: string): Promise<FileHandle> {
  return open(path, 'a', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--state: cannot write ${path}: ${error.code} (name another file with --state)`)
  })
}

function digest(text: string): string {
  return hash('sha256', text)
}
