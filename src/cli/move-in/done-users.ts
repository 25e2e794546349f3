// Which users of a long import are done, kept in a file from run to run.
import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { UsageError } from '../../errors.ts'

export interface DoneUsers extends AsyncDisposable {
  readonly has: (email: string) => boolean
  /** Remembered once it is answered. */
  readonly add: (email: string) => Promise<void>
  /** Everybody is done: the next run begins anew. */
  readonly forget: () => Promise<void>
}

/** What an import is: another one does not go on where this one was. */
export interface ImportIdentity {
  readonly from: string
  readonly into: string
  readonly replace: boolean
  /** What says how a document is stored. */
  readonly idFields: readonly string[]
  readonly refFields: readonly string[]
}

/** A file holds the digests of users, not their addresses. Throws `UsageError` for the state of another import. */
export async function openDoneUsers(path: string, identity: ImportIdentity): Promise<DoneUsers> {
  const head = digest(JSON.stringify(identity))
  const { from, into, replace } = identity
  /** Of 0.3.0, which did not tell one set of fields from another. */
  const earlierHead = digest(JSON.stringify({ from, into, replace }))
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new UsageError(`--state: cannot read ${path}: ${error.code}`)
  })
  const [first = '', ...rest] = text.split('\n')
  // What was being written when the process ended is not a whole line, the first one too.
  const hasHead = rest.length > 0
  if (hasHead ? first !== head && first !== earlierHead : !head.startsWith(first)) {
    throw new UsageError(
      `--state: ${path} is of another import (another server, database, --replace, --id-fields or --ref-fields): remove it, or name another file`,
    )
  }
  const users = new Set(rest.slice(0, -1))
  const file = await openToAppend(path)
  // A line that was broken off is ended, and names nobody.
  if (!hasHead) await rewrite(file, `${head}\n`)
  else if (!text.endsWith('\n')) await file.appendFile('\n')
  return {
    has: (email) => users.has(digest(email)),
    async add(email) {
      users.add(digest(email))
      await file.appendFile(`${digest(email)}\n`)
    },
    forget: () => rm(path, { force: true }),
    [Symbol.asyncDispose]: () => file.close(),
  }
}

function openToAppend(path: string): Promise<FileHandle> {
  return open(path, 'a', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--state: cannot write ${path}: ${error.code} (--state names another file)`)
  })
}

async function rewrite(file: FileHandle, text: string): Promise<void> {
  await file.truncate(0)
  await file.appendFile(text)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
