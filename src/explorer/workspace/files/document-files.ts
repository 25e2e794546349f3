// Finds the files of templates and the components of UI libraries by their paths.
import { memberText } from '../../../json-text.ts'
import type { Session } from '../../sign-in/session/session.ts'
import { keyOf, listedTexts } from '../document.ts'
import { partsOf } from '../document-parts.ts'
import type { Item, Kind } from '../items.ts'
import type { Finding } from './found-file.ts'
import { filesOf } from './found-files.ts'

type CustomKind = Exclude<Kind, 'projects'>

const ROUTES: Readonly<Record<CustomKind, string>> = { templates: '/templates', libraries: '/ui-libraries' }
/**
 * Maximum total length of the documents that are searched, in UTF-16 code units. The limit is on whole documents,
 * because the paths come with the content of the files.
 */
const MOST_LENGTH = 4_000_000
const LENGTH_AT_ONCE = 1_000_000
const MOST_AT_ONCE = 20

/** A version that changes when one of the documents does: the entity tag of their list. */
export async function documentsVersion(session: Session, kind: CustomKind): Promise<string> {
  const { headers, status } = await session.send(ROUTES[kind], { method: 'HEAD' })
  const tag = headers.get('etag')
  if (tag === null) throw new Error(`The gateway answered ${status}.`)
  return tag
}

/** Yields the files page by page. `items` must be in stored order. */
export async function* findDocumentFiles(
  session: Session,
  kind: CustomKind,
  items: readonly Item[],
): AsyncGenerator<Finding> {
  // `longest` is that of the previous page, because the lengths of the next documents are unknown.
  let [length, longest] = [0, LENGTH_AT_ONCE]
  for (let at = 0; at < items.length; ) {
    const count = Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(LENGTH_AT_ONCE / longest)))
    const run = items.slice(at, at + count)
    const documents = await loadDocuments(session, kind, run)
    const files = run.flatMap(({ key, name }) => {
      const document = documents.get(key)
      const paths = document === undefined ? [] : partsOf(document).elements.map(({ path }) => path)
      return filesOf({ kind, opened: key, name }, paths)
    })
    const lengths = [...documents.values()].map((document) => document.length)
    longest = Math.max(1, ...lengths)
    length += lengths.reduce((sum, one) => sum + one, 0)
    at += count
    const isEnough = length >= MOST_LENGTH
    yield { files, isAll: !isEnough || at >= items.length }
    if (isEnough) return
  }
}

/** Loads the stored texts of adjacent items of a list, keyed by item key. */
async function loadDocuments(
  session: Session,
  kind: CustomKind,
  items: readonly Item[],
): Promise<ReadonlyMap<string, string>> {
  const listed = await listedTexts(session, kind, 'id documentId data', {
    first: items.length,
    after: items[0]?.after ?? null,
  })
  return new Map(listed.map((found) => [keyOf(found), memberText(found, 'data') ?? '']))
}
