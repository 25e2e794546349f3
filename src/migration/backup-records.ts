// Writes and restores a whole database as lines of JSON, one row per line: the backup where no file can be copied.
import { constants } from 'node:buffer'
import { createHash } from 'node:crypto'
import { MachineError } from '../errors.ts'
import type { LastIds, NewSession } from '../store/contract.ts'
import { CARRIED_TABLE_NAMES, carriedTable } from '../store/cutover/carried-tables.ts'
import type { Copy, MigratableStore } from '../store/cutover/contract.ts'
import { restCallDayPages, sessionPages, userPages } from '../store/paging/paging.ts'
import { rowPages } from './copy-rows.ts'
import { documentsOf, elementsOf, exportsOf } from './items.ts'
import { createCopyBatch, MoveError, requireReserved } from './row-copies.ts'

/** Format 2 adds rows of further tables. */
const FORMAT = 2
const READABLE_FORMATS: readonly number[] = [1, FORMAT]

/** Without the line end: the line with its line end must still fit into a string. */
export const MAX_BACKUP_LINE_BYTES = constants.MAX_STRING_LENGTH - 1

/** Older backups do not name the client. */
type BackedUpSession = Omit<NewSession, 'refreshHash' | 'client'> & Partial<Pick<NewSession, 'client'>>

type BackupLine =
  | { readonly type: 'backup'; readonly format: number; readonly createdAt: string }
  | ({ readonly type: 'lastIds' } & Pick<LastIds, 'user' | 'export'> & Partial<LastIds>)
  | { readonly type: 'session'; readonly session: BackedUpSession; readonly refreshHash: string }
  | { readonly type: 'end'; readonly lines: number; readonly digest: string }
  | Exclude<Copy, { readonly type: 'putSession' }>

/**
 * Yields the lines with their line ends. The last line holds the digest of all others. Workspaces come from one
 * snapshot; sessions, keys and the rest are read after it, from the same state or a newer one. Throws `MachineError`
 * for an item that is too long for `restore` to read.
 */
export async function* backupLines(
  store: MigratableStore,
  now: number,
  maxLineBytes = MAX_BACKUP_LINE_BYTES,
): AsyncGenerator<string> {
  const hash = createHash('sha256')
  let lines = 0
  for await (const line of linesBefore(store, now)) {
    const text = `${writeLine(line, maxLineBytes)}\n`
    hash.update(text)
    lines += 1
    yield text
  }
  yield `${JSON.stringify({ type: 'end', lines, digest: hash.digest('hex') } satisfies BackupLine)}\n`
}

function writeLine(line: BackupLine, maxBytes: number): string {
  const text = toJson(line)
  if (text !== null && (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes)) return text
  const owner = 'userId' in line ? ` of user ${line.userId}` : ''
  throw new MachineError(
    `a backup as lines of JSON would be incomplete: one item${owner} (${line.type}) is longer than ${maxBytes} bytes`,
  )
}

/** Null when the text exceeds the maximum length of a string. */
function toJson(line: BackupLine): string | null {
  try {
    return JSON.stringify(line)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

async function* linesBefore(store: MigratableStore, now: number): AsyncGenerator<BackupLine> {
  yield { type: 'backup', format: FORMAT, createdAt: new Date(now).toISOString() }
  await using snapshot = await store.openSnapshot()
  for await (const users of userPages(snapshot)) {
    for (const { id, email } of users) {
      yield { type: 'putUser', id, email }
      const refs: string[] = []
      for await (const document of documentsOf(snapshot, id)) {
        if (document.ref !== null) refs.push(document.ref)
        yield { type: 'addDocument', ...document }
      }
      const exports = await exportsOf(snapshot, id, refs)
      for (const one of [...exports.values()].sort((a, b) => a.id - b.id)) {
        yield { type: 'beginExport', export: one }
        for await (const { position, text } of elementsOf(snapshot, one)) {
          yield { type: 'addElement', userId: id, exportId: one.id, position, text }
        }
        yield { type: 'sealExport', export: one }
      }
    }
  }
  for (const key of await store.signingKeys()) yield { type: 'putKey', key }
  for await (const page of sessionPages(store)) {
    for (const { refreshHash, ...session } of page) {
      yield { type: 'session', session, refreshHash: Buffer.from(refreshHash).toString('hex') }
    }
  }
  for await (const days of restCallDayPages(store)) {
    for (const day of days) for (const calls of await store.restCallsOf([day])) yield { type: 'putRestCalls', calls }
  }
  for (const table of CARRIED_TABLE_NAMES.filter((name) => carriedTable(name).isBackedUp)) {
    for await (const rows of rowPages(store, table)) for (const row of rows) yield { type: 'putRow', table, row }
  }
  yield { type: 'lastIds', ...(await store.lastIds()) }
}

/** Returns the digest of a whole backup. Throws `MoveError` for an incomplete one and for an unknown format. */
export async function verifyBackup(lines: AsyncIterable<string>): Promise<string> {
  const hash = createHash('sha256')
  let count = 0
  let end: BackupLine | undefined
  for await (const line of lines) {
    if (end) throw damaged()
    if (line.startsWith('{"type":"end"')) {
      end = readLine(line)
      continue
    }
    if (count === 0) requireFormat(line)
    hash.update(`${line}\n`)
    count += 1
  }
  const digest = hash.digest('hex')
  if (end?.type !== 'end' || end.digest !== digest || end.lines !== count) throw damaged()
  return digest
}

function requireFormat(text: string): void {
  if (!text.startsWith('{"type":"backup"')) throw new MoveError('this is not a backup')
  const line = readLine(text)
  if (line.type !== 'backup' || !READABLE_FORMATS.includes(line.format))
    throw new MoveError('the backup was made by a newer version of this program')
}

function readLine(line: string): BackupLine {
  try {
    return JSON.parse(line) as BackupLine
  } catch {
    throw damaged()
  }
}

function damaged(): MoveError {
  return new MoveError('the backup is incomplete: it was truncated, or changed since it was made')
}

export interface RestoreOptions {
  /** Digest of the backup, from `verifyBackup`. */
  readonly digest: string
  readonly moveId: string
  readonly keepSessions: boolean
}

/**
 * Fills a database that is empty, or that an interrupted restore of the same backup has left, and activates it. No
 * gateway can serve it before it is complete. When two restores run at once, the later one wins. Throws `MoveError`.
 */
export async function restoreBackup(
  lines: AsyncIterable<string>,
  store: MigratableStore,
  { digest, moveId, keepSessions }: RestoreOptions,
): Promise<void> {
  if (!(await store.reserveTarget({ id: moveId, other: `backup ${digest}` }))) {
    throw new MoveError('the database must be empty, or left by an interrupted restore of the same backup')
  }
  const batch = createCopyBatch({ store, moveId })
  for await (const users of userPages(store)) {
    for (const { id } of users) await batch.put({ type: 'dropUser', id })
  }
  // An interrupted restore may have kept sessions that this one shall not keep.
  for await (const sessions of sessionPages(store)) {
    for (const { id } of sessions) await batch.put({ type: 'dropSession', id })
  }
  await batch.flush()
  for await (const text of lines) {
    const line = readLine(text)
    if (line.type === 'backup' || line.type === 'end') continue
    if (line.type === 'lastIds')
      await requireReserved(store.raiseIds(moveId, { ...line, auditEntry: line.auditEntry ?? 0 }))
    else if (line.type !== 'session') await batch.put(line)
    else if (keepSessions) {
      const session = { client: '', ...line.session, refreshHash: Buffer.from(line.refreshHash, 'hex') }
      await batch.put({ type: 'putSession', session })
    }
  }
  await batch.flush()
  await requireReserved(store.completeTarget(moveId))
  // Until now another restore of the same backup may have begun to fill the database again.
  const { phase } = await store.activate()
  await requireReserved(phase !== 'filling')
}
