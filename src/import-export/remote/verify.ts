// Verifies that a workspace here equals the one on the other server, by reading and comparing both sides again.
import type { DocumentKind, Store } from '../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../store/reads-contract.ts'
import type { RecordFields } from '../format/read-record.ts'
import { createRefReader } from './project-ref.ts'
import { digestOf, digestOfElements, exportPath, LIST_PATHS, NOTHING_SEEN, seenInStore } from './seen-workspace.ts'
import type { RemoteArray, RemoteSession } from './session.ts'

/** A difference, named by the route that shows it. */
export interface Difference {
  /** The route, without the reference. */
  readonly route: string
  /** In words, for the report. */
  readonly what: string
}

export interface Verified {
  readonly differences: readonly Difference[]
  /** Number of compared responses. */
  readonly answers: number
  /** How many of them differ only in white space between documents: the same JSON, but other bytes. */
  readonly spacedOtherwise: number
  /** Bytes of the other server's responses. */
  readonly byteLength: number
}

/** Throws `ContractError`. */
export async function verify(
  email: string,
  session: RemoteSession,
  store: Store,
  fields: RecordFields,
): Promise<Verified> {
  const readRef = createRefReader(fields)
  const here = await seenInStore(store, email)
  const differences: Difference[] = []
  let answers = 0
  let spacedOtherwise = 0
  let byteLength = 0

  function compare(path: string, there: RemoteArray | null): void {
    const digestHere = here.answers.get(path)?.digest ?? null
    const route = `GET ${path.split('?')[0]}`
    answers += 1
    byteLength += there?.bytes.byteLength ?? 0
    if (digestHere === null && (there === null || there === EMPTY)) return
    if (there === null) differences.push({ route, what: 'is 404 there, and not here' })
    else if (digestHere === null) differences.push({ route, what: 'is 404 here, and not there' })
    else if (digestOf(there.bytes) === digestHere) return
    else if (digestOfElements(there.elements()) === digestHere) spacedOtherwise += 1
    else if (there === EMPTY) differences.push({ route, what: LIST_GONE })
    else differences.push({ route, what: 'has other documents, or has them in another order' })
  }

  const lists = new Map<DocumentKind, RemoteArray | null>()
  for (const kind of DOCUMENT_KINDS) lists.set(kind, await readWhole(LIST_PATHS[kind]))
  const isThere = [...lists.values()].some((list) => list !== null)
  if (!isThere && here === NOTHING_SEEN) return { differences, answers, spacedOtherwise, byteLength }
  for (const [kind, list] of lists) compare(LIST_PATHS[kind], isThere ? (list ?? EMPTY) : null)
  const refs =
    lists
      .get('project')
      ?.elements()
      .flatMap((text) => readRef(text) ?? []) ?? []
  for (const ref of refs) compare(exportPath(ref), await readWhole(exportPath(ref)))
  return { differences, answers, spacedOtherwise, byteLength }

  async function readWhole(path: string): Promise<RemoteArray | null> {
    const found = await session.read(path)
    return found === 'unchanged' ? null : found
  }
}

const LIST_GONE = 'is 404 there although other lists are not, and documents of this list are stored here'

/** Stands for an empty list that the other server answers with 404. */
const EMPTY: RemoteArray = { elements: () => [], bytes: Buffer.from('[]'), lastModified: null, etag: null }
