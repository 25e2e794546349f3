// Copies one user's workspace from the source to the target and verifies it.
import { createHash } from 'node:crypto'
import { createExportDigest } from '../import-export/export-digest.ts'
import type { StoredDocument, StoredExport, StoredUser, WorkspaceReads } from '../store/contract.ts'
import { DETOUR } from '../store/cutover/contract.ts'
import { documentsOf, elementsOf, exportsOf, isSameDocument, pairs } from './items.ts'
import { type CopyBatch, createCopyBatch, MoveError, type Target } from './row-copies.ts'

export interface CopiedUser {
  /** Whether the target already had everything. */
  readonly wasPresent: boolean
  readonly documents: number
  readonly exports: number
}

/**
 * Makes the user's workspace in the target equal to the one in `source`, which must not change meanwhile. Removes from
 * the target whatever the source does not have. Then compares the target by digest: all documents, and the elements of
 * the copied exports (of all exports when `isThorough`). Throws `MoveError`.
 */
export async function copyUser(
  { id, email }: StoredUser,
  source: WorkspaceReads,
  target: Target,
  isThorough: boolean,
): Promise<CopiedUser> {
  const [before] = await target.store.usersById([id])
  const batch = createCopyBatch(target)
  if (before?.email !== email) await batch.put({ type: 'putUser', id, email })
  const documents = await copyDocuments(id, source, target, !before, batch)
  if (before) await batch.flush()
  const exports = await copyExports(id, documents.refs, source, target, !before, batch)
  await batch.flush()
  const wasPresent = before?.email === email && !documents.isChanged && exports.copied.size === 0 && !exports.isReduced
  if (!wasPresent || isThorough) await verify(id, documents, exports, target, isThorough)
  return { wasPresent, documents: documents.count, exports: exports.all.size }
}

/**
 * Called at the end: every user that was moved aside for another one must have been copied or removed since. Throws
 * `MoveError`.
 */
export async function requireOwnEmails({ store }: Target): Promise<void> {
  const [next] = await store.usersAfter(DETOUR, 1)
  if (next?.email.startsWith(DETOUR)) throw differing(next.id)
}

interface CopiedDocuments {
  readonly count: number
  readonly isChanged: boolean
  readonly digest: string
  readonly refs: readonly string[]
}

async function copyDocuments(
  userId: number,
  source: WorkspaceReads,
  target: Target,
  isNew: boolean,
  batch: CopyBatch,
): Promise<CopiedDocuments> {
  const here = () => documentsOf(source, userId)
  const there = () => documentsOf(target.store, userId)
  const digest = createDocumentDigest()
  let isChanged = false
  let missing = 0
  const adding = { some: [] as StoredDocument[], textLength: 0 }
  for await (const { wanted, found } of pairs(here(), isNew ? none() : there())) {
    if (wanted) digest.add(wanted)
    if (wanted && found && isSameDocument(wanted, found)) continue
    isChanged = true
    if (found) await batch.put({ type: 'dropDocument', userId, kind: found.kind, position: found.position })
    if (!wanted) continue
    missing += 1
    if (adding.some.length < KEPT_DOCUMENTS && adding.textLength < KEPT_TEXT_LENGTH) {
      adding.some.push(wanted)
      adding.textLength += wanted.text.length
    }
  }
  // Added only now: another document, later in the list, may still hold the id or the reference of an added one.
  for (const document of adding.some) await batch.put({ type: 'addDocument', ...document })
  if (adding.some.length < missing) {
    await batch.flush()
    for await (const { wanted, found } of pairs(here(), there())) {
      if (wanted && !found) await batch.put({ type: 'addDocument', ...wanted })
    }
  }
  return { ...digest.finish(), isChanged }
}

/**
 * Limits of the added documents that are buffered during the comparison. Beyond them, both lists are read once more.
 */
const KEPT_DOCUMENTS = 1_000
const KEPT_TEXT_LENGTH = 4_194_304

interface CopiedExports {
  readonly all: ReadonlyMap<number, StoredExport>
  readonly copied: ReadonlySet<number>
  readonly isReduced: boolean
}

async function copyExports(
  userId: number,
  refs: readonly string[],
  source: WorkspaceReads,
  { store }: Target,
  isNew: boolean,
  batch: CopyBatch,
): Promise<CopiedExports> {
  const wanted = await exportsOf(source, userId, refs)
  const there = isNew ? new Map<number, StoredExport>() : await exportsOf(store, userId, refs)
  const extra = [...there.values()].filter((one) => !isSameExport(one, wanted.get(one.id)))
  for (const { id } of extra) await batch.put({ type: 'dropExport', userId, id })
  const copied = new Set<number>()
  for (const one of wanted.values()) {
    if (isSameExport(one, there.get(one.id))) continue
    copied.add(one.id)
    await batch.put({ type: 'beginExport', export: one })
    const digest = createExportDigest()
    for await (const { position, text } of elementsOf(source, one)) {
      digest.add(text)
      await batch.put({ type: 'addElement', userId, exportId: one.id, position, text })
    }
    if (digest.finish().digest !== one.digest) throw damagedExport(one)
    await batch.put({ type: 'sealExport', export: one })
  }
  return { all: wanted, copied, isReduced: extra.length > 0 }
}

/** Compares the current content of the target. */
async function verify(
  userId: number,
  documents: CopiedDocuments,
  { all, copied }: CopiedExports,
  { store }: Target,
  isThorough: boolean,
): Promise<void> {
  const found = createDocumentDigest()
  for await (const document of documentsOf(store, userId)) found.add(document)
  const there = await exportsOf(store, userId, documents.refs)
  const isSame =
    found.finish().digest === documents.digest &&
    there.size === all.size &&
    [...all.values()].every((one) => isSameExport(one, there.get(one.id)))
  if (!isSame) throw differing(userId)
  for (const one of all.values()) {
    if (!isThorough && !copied.has(one.id)) continue
    const digest = createExportDigest()
    for await (const { text } of elementsOf(store, one)) digest.add(text)
    const { digest: computed, byteLength, elementCount } = digest.finish()
    if (computed !== one.digest || byteLength !== one.byteLength || elementCount !== one.elementCount) {
      throw differing(userId)
    }
  }
}

async function* none(): AsyncGenerator<never> {}

function differing(userId: number): MoveError {
  return new MoveError(
    `user ${userId} of the source is not the same in the target: is something else writing to the target?`,
  )
}

/** SQLite keeps no checksum of its pages, so only the digest of an export shows that a disk has changed its bytes. */
function damagedExport({ userId, ref, createdAt }: StoredExport): MoveError {
  return new MoveError(
    `an export of user ${userId} of the source does not match its digest, so its stored bytes have changed: remove it, and import it again ("r": ${JSON.stringify(ref)}, "createdAt": "${createdAt}")`,
  )
}

function isSameExport(a: StoredExport, b: StoredExport | undefined): boolean {
  return (
    b !== undefined &&
    a.ref === b.ref &&
    a.createdAt === b.createdAt &&
    a.instant === b.instant &&
    a.digest === b.digest &&
    a.byteLength === b.byteLength &&
    a.elementCount === b.elementCount
  )
}

function createDocumentDigest() {
  const hash = createHash('sha256')
  const refs: string[] = []
  let count = 0
  return {
    add({ kind, position, id, ref, text }: StoredDocument): void {
      hash.update(`${JSON.stringify([kind, position, id, ref, text])}\n`)
      count += 1
      if (ref !== null) refs.push(ref)
    },
    finish: () => ({ digest: hash.digest('hex'), count, refs }),
  }
}
