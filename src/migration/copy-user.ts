// One user's workspace in the target made what it is in the source, and read back.
import { createHash } from 'node:crypto'
import { createExportDigest } from '../import-export/export-digest.ts'
import type { StoredDocument, StoredExport, StoredUser, WorkspaceReads } from '../store/contract.ts'
import { DETOUR } from '../store/cutover/contract.ts'
import { documentsOf, elementsOf, exportsOf, isSameDocument, pairs } from './items.ts'
import { type CopyBatch, createCopyBatch, MoveError, type Target } from './row-copies.ts'

export interface CopiedUser {
  /** Whether everything was there already. */
  readonly wasPresent: boolean
  readonly documents: number
  readonly exports: number
}

/**
 * `source` must not change meanwhile; whatever is in the target and not in the source goes. Compares by digest what is in
 * the target in the end: all documents, and the elements of the exports that were copied (`isThorough`: of all of them).
 * Throws `MoveError`.
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

/** In the end: whoever was moved aside for somebody else is brought over as well, or gone. Throws `MoveError`. */
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
  // Only now, since a document that is added may have had its id or its reference at a place that is later in the list.
  for (const document of adding.some) await batch.put({ type: 'addDocument', ...document })
  if (adding.some.length < missing) {
    await batch.flush()
    for await (const { wanted, found } of pairs(here(), there())) {
      if (wanted && !found) await batch.put({ type: 'addDocument', ...wanted })
    }
  }
  return { ...digest.finish(), isChanged }
}

/** Documents to be added that are kept while the rest is compared; when there are more, both lists are read once again. */
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
    if (digest.finish().digest !== one.digest) throw new MoveError('an export in the source does not have its digest')
    await batch.put({ type: 'sealExport', export: one })
  }
  return { all: wanted, copied, isReduced: extra.length > 0 }
}

/** Everything as it is in the target now. */
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
