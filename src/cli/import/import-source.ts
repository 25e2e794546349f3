// Where an import reads from: a file, or whatever else, kept in a temporary file, because it is read twice.
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../errors.ts'
import { createExportDigest } from '../../import-export/export-digest.ts'
import { ContractError, type FetchedExport, fetchWorkspace } from '../../import-export/remote-server.ts'
import type { Store } from '../../store/contract.ts'
import type { CommandIo } from '../io.ts'
import type { ImportConfig } from '../options/import-options.ts'

export interface ImportSource extends AsyncDisposable {
  readonly file: FileHandle
  /** For messages. */
  readonly name: string
}

const ADDRESS = /^https?:\/\//

type Chunks = AsyncIterable<string | Uint8Array>

/** A file, stdin or the address of a file. Throws `UsageError` when there is nothing to read. */
export async function openImportSource(source: string, io: CommandIo): Promise<ImportSource> {
  if (ADDRESS.test(source)) return spool(fetchFile(source), new URL(source).host)
  return source === '-' ? spool(io.stdin, 'stdin') : openFile(source)
}

/** What users have on another server of the contract. Throws `UsageError` when it does not answer as one. */
export async function openContractSource(
  url: string,
  emails: readonly string[],
  config: ImportConfig,
  store: Store,
  io: CommandIo,
): Promise<ImportSource> {
  if (!ADDRESS.test(url)) throw new UsageError('--email: goes with the http(s):// address of a server')
  return spool(fetchWorkspaces(url, emails, config, store, io), new URL(url).host)
}

async function openFile(path: string): Promise<ImportSource> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${path}: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`)
  })
  if (!(await file.stat()).isFile()) {
    await file.close()
    throw new UsageError(`cannot read ${path}: not a file (pipe it in and use - to read from stdin)`)
  }
  return { file, name: path, [Symbol.asyncDispose]: () => file.close() }
}

/** All of it in a file that has no name, so that nothing stays behind. `name` is for messages. */
export async function spool(chunks: Chunks, name: string): Promise<ImportSource> {
  const path = join(tmpdir(), `workspace-gateway-import-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot keep ${name} while it is imported: ${error.message} (TMPDIR names another folder)`)
  })
  // Unlinked at once where the system allows it: nothing stays behind, whatever happens.
  await rm(path)
  try {
    await file.writeFile(chunks)
  } catch (error) {
    await file.close()
    throw error instanceof ContractError ? new UsageError(error.message, { cause: error }) : error
  }
  return { file, name, [Symbol.asyncDispose]: () => file.close() }
}

async function* fetchFile(url: string): AsyncGenerator<Uint8Array> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new UsageError(`cannot read ${url}: no answer`, { cause: error })
  })
  if (!response.ok || !response.body) throw new UsageError(`cannot read ${url}: it answered ${response.status}`)
  yield* response.body
}

async function* fetchWorkspaces(
  url: string,
  emails: readonly string[],
  config: ImportConfig,
  store: Store,
  { clock }: CommandIo,
): AsyncGenerator<string> {
  for (const email of emails) {
    yield* fetchWorkspace(url, email, { fields: config, clock, isKnown: (found) => isNewestExport(store, found) })
  }
}

async function isNewestExport(store: Store, { email, ref, elements }: FetchedExport): Promise<boolean> {
  const user = await store.userByEmail(email)
  const [newest] = user ? await store.latestExports([{ userId: user.id, ref }]) : []
  if (!newest) return false
  const digest = createExportDigest()
  for (const element of elements) digest.add(element)
  return digest.finish().digest === newest.digest
}
