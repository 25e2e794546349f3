// What has changed of a workspace on another server since it was last looked at; what has not is not sent where the server
// knows entity tags, and not taken where it does not.
import type { DocumentKind } from '../../store/contract.ts'
import {
  DOCUMENT_KINDS,
  digestOf,
  EMPTY_ARRAY_DIGEST,
  exportPath,
  LIST_PATHS,
  type SeenAnswer,
  type SeenWorkspace,
} from './seen-workspace.ts'
import type { RemoteArray, RemoteSession } from './session.ts'

export interface ReadingOptions {
  /** Of a project's JSON text; null for one that has none. */
  readonly readRef: (projectText: string) => string | null
  /** Told of each project's newest export that is another one now, or gone: null. */
  readonly onExport: (ref: string, found: RemoteArray | null) => Promise<void>
}

export type Reading =
  /** The server has no workspace of that user: each of its lists is 404. */
  | { readonly type: 'missing' }
  | { readonly type: 'unchanged'; readonly seen: SeenWorkspace }
  | { readonly type: 'changed'; readonly seen: SeenWorkspace; readonly lists: Lists }

/** JSON texts. */
export type Lists = Readonly<Record<DocumentKind, readonly string[]>>

interface Answered {
  readonly answer: SeenAnswer
  /** Null where the server says that it has not changed. */
  readonly array: RemoteArray | null
}

/** Throws `ContractError`. All lists are read anew when anything has changed. */
export async function readChanges(
  session: RemoteSession,
  before: SeenWorkspace,
  { readRef, onExport }: ReadingOptions,
): Promise<Reading> {
  const answers = new Map<string, SeenAnswer>()
  let hasChanged = false

  async function look(path: string): Promise<Answered> {
    const known = before.answers.get(path)
    const found = await session.read(path, known?.digest == null ? null : known.etag)
    const isTheSame = found === 'unchanged' && known !== undefined
    const answer = isTheSame ? known : toSeen(found === 'unchanged' ? null : found)
    return { answer, array: found === 'unchanged' ? null : found }
  }

  const lists = new Map<DocumentKind, Answered>()
  for (const kind of DOCUMENT_KINDS) lists.set(kind, await look(LIST_PATHS[kind]))
  if ([...lists.values()].every(({ answer }) => answer.digest === null)) return { type: 'missing' }
  for (const [kind, looked] of lists) {
    const digest = looked.answer.digest ?? EMPTY_ARRAY_DIGEST
    answers.set(LIST_PATHS[kind], { ...looked.answer, digest })
    hasChanged ||= digest !== before.answers.get(LIST_PATHS[kind])?.digest
  }
  const { project: projectsPath } = LIST_PATHS
  const hasOtherProjects = answers.get(projectsPath)?.digest !== before.answers.get(projectsPath)?.digest
  const projects = lists.get('project')?.array?.elements ?? NO_ELEMENTS
  const refs = hasOtherProjects ? projects().flatMap((text) => readRef(text) ?? []) : before.refs
  for (const ref of refs) {
    const { answer, array } = await look(exportPath(ref))
    answers.set(exportPath(ref), answer)
    if (answer.digest === before.answers.get(exportPath(ref))?.digest) continue
    hasChanged = true
    await onExport(ref, array)
  }
  const seen = { answers, refs }
  if (!hasChanged) return { type: 'unchanged', seen }
  const whole = {} as Record<DocumentKind, readonly string[]>
  for (const kind of DOCUMENT_KINDS) whole[kind] = await textsOf(kind)
  return { type: 'changed', seen, lists: whole }

  async function textsOf(kind: DocumentKind): Promise<readonly string[]> {
    const looked = lists.get(kind)
    if (!looked || looked.answer.digest === null) return []
    if (looked.array) return looked.array.elements()
    const found = await session.read(LIST_PATHS[kind])
    const elements = found === 'unchanged' || found === null ? [] : found.elements()
    const isTheSame = found !== 'unchanged' && found !== null && digestOf(found.bytes) === looked.answer.digest
    // It has changed since it was told not to have: without a tag it is found changed the next time, and looked at whole.
    if (!isTheSame) answers.set(LIST_PATHS[kind], { etag: null, digest: looked.answer.digest })
    return elements
  }
}

const NO_ELEMENTS = (): readonly string[] => []

function toSeen(found: RemoteArray | null): SeenAnswer {
  return found ? { etag: found.etag, digest: digestOf(found.bytes) } : { etag: null, digest: null }
}
