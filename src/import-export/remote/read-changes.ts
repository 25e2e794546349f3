// Reads what has changed in a workspace on another server. Unchanged parts are not sent when the server supports entity
// tags, and are ignored when it does not.
import type { DocumentKind } from '../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../store/reads-contract.ts'
import { ContractError } from './client.ts'
import type { RemoteProject } from './project-ref.ts'
import {
  digestOfAnswer,
  digestOfElements,
  EMPTY_ARRAY_DIGEST,
  exportPath,
  LIST_PATHS,
  type SeenAnswer,
  type SeenWorkspace,
} from './seen-workspace.ts'
import type { RemoteArray, RemoteSession } from './session.ts'

export interface ReadingOptions {
  /** Takes a project's JSON text; null for a project without an id or a reference. */
  readonly readProject: (projectText: string) => RemoteProject | null
  /** The reference that each project has here so far; null for a project that is not stored here. */
  readonly refsHere: (projects: readonly RemoteProject[]) => Promise<readonly (string | null)[]>
  /** Called for each project whose newest export has changed; with null when it is gone. */
  readonly onExport: (project: FoundProject, found: RemoteArray | null) => Promise<void>
}

export interface FoundProject {
  readonly ref: string
  /** See `refsHere`: its exports are stored under this reference until the list is taken in. */
  readonly refHere: string | null
}

export type Reading =
  /** The server has no workspace of the user: all lists are 404. */
  | { readonly type: 'missing' }
  | { readonly type: 'unchanged'; readonly seen: SeenWorkspace }
  | {
      readonly type: 'changed'
      readonly seen: SeenWorkspace
      readonly lists: Lists
      /** Lists that are 404 while others are not. They are empty in `lists`. */
      readonly absent: readonly DocumentKind[]
    }

/** JSON texts. */
export type Lists = Readonly<Record<DocumentKind, readonly string[]>>

export function areEmpty(lists: Lists): boolean {
  return DOCUMENT_KINDS.every((kind) => lists[kind].length === 0)
}

/** A list reported as unchanged differed when it was read: the lists come from different moments. */
export class ListsChangedError extends ContractError {}

interface Answered {
  readonly answer: SeenAnswer
  /** Whether it equals what was seen before, apart from white space between documents. */
  readonly isTheSame: boolean
  /** Null when the server reported it as unchanged. */
  readonly array: RemoteArray | null
}

/** Throws `ContractError`. When anything has changed, it also reads the lists that the server did not send. */
export async function readChanges(
  session: RemoteSession,
  before: SeenWorkspace,
  { readProject, refsHere, onExport }: ReadingOptions,
): Promise<Reading> {
  const answers = new Map<string, SeenAnswer>()
  let hasChanged = false

  /** `known` is what was seen before. `missing` is the digest that stands for a 404. */
  async function look(path: string, known: SeenAnswer | undefined, missing: string | null): Promise<Answered> {
    const found = await session.read(path, known?.digest == null ? null : known.etag)
    if (found === 'unchanged') return { answer: known ?? NOT_THERE, isTheSame: known !== undefined, array: null }
    const answer = toSeen(found)
    return { answer, isTheSame: known !== undefined && isEqual(found, answer.digest ?? missing, known), array: found }
  }

  const lists = new Map<DocumentKind, Answered>()
  for (const kind of DOCUMENT_KINDS) {
    lists.set(kind, await look(LIST_PATHS[kind], before.answers.get(LIST_PATHS[kind]), EMPTY_ARRAY_DIGEST))
  }
  const absent = DOCUMENT_KINDS.filter((kind) => lists.get(kind)?.answer.digest === null)
  if (absent.length === DOCUMENT_KINDS.length) return { type: 'missing' }
  for (const [kind, { answer, isTheSame }] of lists) {
    answers.set(LIST_PATHS[kind], { ...answer, digest: answer.digest ?? EMPTY_ARRAY_DIGEST })
    hasChanged ||= !isTheSame
  }
  const projects = lists.get('project')
  const texts = projects?.array?.elements ?? NO_ELEMENTS
  const found =
    projects?.isTheSame === true ? before.refs.map((ref) => ({ ref, refHere: ref })) : await foundIn(texts())
  for (const project of found) {
    const path = exportPath(project.ref)
    // If the project had another reference, what was seen under this reference belonged to another project.
    const known = project.refHere === project.ref ? before.answers.get(path) : undefined
    const { answer, isTheSame, array } = await look(path, known, null)
    answers.set(path, answer)
    if (isTheSame) continue
    hasChanged = true
    await onExport(project, array)
  }
  const seen = { answers, refs: found.map(({ ref }) => ref) }
  if (!hasChanged) return { type: 'unchanged', seen }
  const whole = {} as Record<DocumentKind, readonly string[]>
  for (const kind of DOCUMENT_KINDS) whole[kind] = await textsOf(kind)
  return { type: 'changed', seen, lists: whole, absent }

  /** Two projects with the same reference share one export. */
  async function foundIn(projectTexts: readonly string[]): Promise<readonly FoundProject[]> {
    const byRef = new Map<string, RemoteProject>()
    for (const text of projectTexts) {
      const project = readProject(text)
      if (project && !byRef.has(project.ref)) byRef.set(project.ref, project)
    }
    const all = [...byRef.values()]
    const here = await refsHere(all)
    return all.map(({ ref }, index) => ({ ref, refHere: here[index] ?? null }))
  }

  async function textsOf(kind: DocumentKind): Promise<readonly string[]> {
    const looked = lists.get(kind)
    if (!looked || looked.answer.digest === null) return []
    if (looked.array) return looked.array.elements()
    const path = LIST_PATHS[kind]
    const found = await session.read(path)
    const isTheSame = found !== 'unchanged' && found !== null && digestOfAnswer(found.bytes) === looked.answer.digest
    if (!isTheSame) throw new ListsChangedError(`the answer of GET ${path} changes while it is read`)
    return found.elements()
  }
}

const NO_ELEMENTS = (): readonly string[] => []
const NOT_THERE: SeenAnswer = { etag: null, digest: null }

function toSeen(found: RemoteArray | null): SeenAnswer {
  return found ? { etag: found.etag, digest: digestOfAnswer(found.bytes) } : NOT_THERE
}

/** Compares again without white space between documents, because stored documents have none. */
function isEqual(found: RemoteArray | null, digest: string | null, known: SeenAnswer): boolean {
  if (digest === known.digest) return true
  return found !== null && known.digest !== null && digestOfElements(found.elements()) === known.digest
}
