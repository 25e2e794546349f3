// Imports the changes of one user's workspace on another server into the store.
import type { FileHandle } from 'node:fs/promises'
import { MachineError, reasonOf } from '../../errors.ts'
import type { Change, DocumentKind, Store, StoredExport } from '../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../store/reads-contract.ts'
import type { EditableStore } from '../../store/workspace-edits.ts'
import { checkInput } from '../checks/validate.ts'
import type { RecordFields } from '../format/read-record.ts'
import { toSortableUtc } from '../format/timestamp.ts'
import { documentLine, exportLines, userLine } from '../format/write-record.ts'
import { type Counts, loadInput } from '../load.ts'
import { replaceInput } from '../replace.ts'
import { ContractError } from './client.ts'
import { createDistinctIds } from './distinct-ids.ts'
import { createProjectReader, type RemoteProject } from './project-ref.ts'
import { areEmpty, type FoundProject, type Lists, ListsChangedError, readChanges } from './read-changes.ts'
import { type RemovableDocuments, requireDocuments } from './refusals/lost-documents.ts'
import { requireSomeExport } from './refusals/lost-exports.ts'
import { requireSameFields } from './refusals/same-fields.ts'
import { digestOfElements, type SeenWorkspace, withoutListTags } from './seen-workspace.ts'
import type { RemoteArray, RemoteSession } from './session.ts'

export interface TakeInOptions extends RemovableDocuments {
  readonly store: EditableStore
  readonly fields: RecordFields
  readonly clock: () => number
  /** Opens an empty file that is deleted when it is closed. It buffers the changes until all of them have arrived. */
  readonly openTemporaryFile: () => Promise<FileHandle>
  /**
   * Whether the workspace afterwards has exactly what the other server shows. The contract shows only the newest export
   * of a project, so older exports that are stored here stay. Without replacement nothing is removed and lists keep
   * their order.
   */
  readonly isReplacement: boolean
  /** Whether a replacement removes stored exports when there are none there, and those that `OtherFieldsError` keeps. */
  readonly mayLoseAllExports: boolean
}

export type TakenIn =
  | { readonly type: 'missing' }
  | { readonly type: 'unchanged'; readonly seen: SeenWorkspace }
  | {
      readonly type: 'changed'
      readonly seen: SeenWorkspace
      readonly counts: Counts
      /** Lists that are 404 while others are not. They were treated as empty. */
      readonly absent: readonly DocumentKind[]
    }

/** `email` is canonical. Imports nothing before everything has arrived and was checked. Throws `ContractError`. */
export async function takeIn(
  email: string,
  session: RemoteSession,
  before: SeenWorkspace,
  options: TakeInOptions,
): Promise<TakenIn> {
  try {
    return await takeInOnce(email, session, before, options)
  } catch (error) {
    if (!(error instanceof ListsChangedError)) throw error
    // Without entity tags the lists come whole, so they are not read a second time.
    return takeInOnce(email, session, withoutListTags(before), options)
  }
}

async function takeInOnce(
  email: string,
  session: RemoteSession,
  before: SeenWorkspace,
  options: TakeInOptions,
): Promise<TakenIn> {
  const { store, fields } = options
  await using file = await options.openTemporaryFile()
  const gone: FoundProject[] = []
  let sameExports = 0
  const reading = await readChanges(session, before, {
    readProject: createProjectReader(fields),
    refsHere: (projects) => refsHere(store, email, projects),
    async onExport(project, found) {
      const lines = found && (await newExport(email, project, found, options))
      if (lines) await append(file, lines)
      else if (found) sameExports += 1
      else gone.push(project)
    },
  })
  if (reading.type !== 'changed') return reading
  if (options.isReplacement) {
    await requireDocuments(email, reading, options)
    if (!options.mayLoseAllExports) {
      await requireSameFields(email, { texts: reading.lists.project, gone }, options)
      await requireSomeExport(store, email, gone, reading.seen)
    }
  }
  await append(file, linesOf(email, reading.lists))
  const counts = await importFile(file, options)
  const removed = options.isReplacement ? await removeExports(store, email, gone) : 0
  const [unchanged, allRemoved] = [counts.unchanged + sameExports, counts.removed + removed]
  return {
    type: 'changed',
    seen: reading.seen,
    counts: { ...counts, unchanged, removed: allRemoved },
    absent: reading.absent,
  }
}

/** Throws `MachineError` when the file cannot be written, for example on a full disk. */
async function append(file: FileHandle, lines: Iterable<string> | AsyncIterable<string>): Promise<void> {
  await file.appendFile(lines).catch((error: unknown) => {
    const reason = `${reasonOf(error)} (set TMPDIR to use another folder)`
    throw new MachineError(`cannot store the received data during the import: ${reason}`, { cause: error })
  })
}

/** A user without any data gets a line too. */
function* linesOf(email: string, lists: Lists): Generator<string> {
  if (areEmpty(lists)) yield userLine(email)
  for (const kind of DOCUMENT_KINDS) {
    for (const text of lists[kind]) yield documentLine(kind, email, text)
  }
}

async function importFile(file: FileHandle, { store, fields, clock, isReplacement }: TakeInOptions): Promise<Counts> {
  const checkOptions = { isReplacement, requireDocument: createDistinctIds(fields) }
  const checked = await checkInput(file, fields, store, () => {}, checkOptions)
  const [first] = checked.bad.first
  if (first) throw new ContractError(`its answer cannot be imported: ${first.reason}`)
  const apply = {
    fields,
    clock,
    onProgress() {},
    async onRejected(_: unknown, reason: string) {
      throw new ContractError(`its answer cannot be imported: ${reason}`)
    },
  }
  if (!isReplacement) return loadInput(file, checked, store, apply)
  return replaceInput(file, checked, store, { ...apply, isDryRun: false, keepsExports: true, onUser() {} })
}

/**
 * Null when the export is already stored as the newest one. Compares digests, because the contract does not tell when
 * an export was made.
 */
async function newExport(
  email: string,
  project: FoundProject,
  found: RemoteArray,
  { store, clock }: TakeInOptions,
): Promise<AsyncIterable<string> | null> {
  const elements = found.elements()
  const newest = await newestExport(store, email, project)
  if (newest?.digest === digestOfElements(elements)) return null
  const told = new Date(pastTime(found.lastModified, clock())).toISOString()
  const isNewer = newest === null || (toSortableUtc(told) ?? '') > newest.instant
  // The export shown as the newest there must become the newest here, whatever its time.
  const createdAt = isNewer ? told : new Date(Math.max(clock(), Date.parse(newest.instant) + 1)).toISOString()
  const length = elements.reduce((sum, element) => sum + element.length, 0)
  const { ref } = project
  return exportLines(email, { ref, createdAt, length, id: ref }, elements)
}

/** The reported time, or now when the reported time is invalid or in the future (RFC 9110 section 8.8.2.1). */
function pastTime(told: number | null, now: number): number {
  return told !== null && told >= 0 && told <= now ? told : now
}

async function refsHere(
  store: Store,
  email: string,
  projects: readonly RemoteProject[],
): Promise<readonly (string | null)[]> {
  const user = await store.userByEmail(email)
  if (!user) return []
  const stored = await store.documentsById(projects.map(({ id }) => ({ userId: user.id, kind: 'project', id })))
  return stored.map((document) => document?.ref ?? null)
}

/**
 * The newest export stored before the project list is taken in. Exports move along when the project has another
 * reference there.
 */
async function newestExport(store: Store, email: string, { refHere }: FoundProject): Promise<StoredExport | null> {
  const user = refHere === null ? null : await store.userByEmail(email)
  const [newest] = user && refHere !== null ? await store.latestExports([{ userId: user.id, ref: refHere }]) : []
  return newest ?? null
}

/** Removes the exports of projects that stay and have no export there any more. Returns their number. */
async function removeExports(store: EditableStore, email: string, gone: readonly FoundProject[]): Promise<number> {
  const user = await store.userByEmail(email)
  if (!user || gone.length === 0) return 0
  const pages = gone.map(({ ref }) => ({ userId: user.id, ref, after: null, limit: null }))
  const stored = (await store.exportsOf(pages)).flat()
  const changes = stored.map(
    ({ ref, instant, digest }): Change => ({ type: 'removeExports', email, ref, instant, digest }),
  )
  const outcomes = changes.length > 0 ? await store.applyChanges(changes) : []
  return outcomes.filter((outcome) => outcome === 'removed').length
}
