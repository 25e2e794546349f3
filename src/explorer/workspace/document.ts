// One stored document as text, exactly as it is kept.
import { elementTexts, memberText } from '../../json-text.ts'
import { queryText } from '../answer/graphql-query.ts'
import type { Session } from '../sign-in/session/session.ts'

const DOCUMENT_LISTS = { projects: 'projects', templates: 'templates', libraries: 'uiLibraries' } as const

export interface StoredText {
  readonly name: string | null
  readonly description: string | null
  readonly text: string
}

/** By its place in the list: `after` is the cursor of the item before it, null for the first. `key` is that of its item. */
export async function loadDocument(
  session: Session,
  kind: keyof typeof DOCUMENT_LISTS,
  key: string,
  after: string | null,
): Promise<StoredText> {
  const fields = kind === 'projects' ? 'ref' : 'id documentId'
  const [found] = await listedTexts(session, kind, `${fields} name description data`, { first: 1, after })
  if (found === undefined || keyOf(found) !== key) {
    throw new Error('This workspace has changed meanwhile: reload the page.')
  }
  const [name = null, description = null] = ['name', 'description'].map(
    (member) => JSON.parse(memberText(found, member) ?? 'null') as string | null,
  )
  return { name, description, text: memberText(found, 'data') ?? '' }
}

/** The key of its item: the same for a document that was written anew. */
export function keyOf(listed: string): string {
  const [ref, documentId, id] = ['ref', 'documentId', 'id'].map((name) =>
    JSON.parse(memberText(listed, name) ?? 'null'),
  )
  return ref ?? documentId ?? id
}

/** Items of a list with these fields, each as the gateway wrote it. */
export async function listedTexts(
  session: Session,
  kind: keyof typeof DOCUMENT_LISTS,
  fields: string,
  variables: { readonly first: number; readonly after: string | null },
): Promise<readonly string[]> {
  const list = DOCUMENT_LISTS[kind]
  const text = `query($first: Int!, $after: String) { me { ${list}(first: $first, after: $after) { ${fields} } } }`
  const answer = await queryText(session, text, variables)
  const me = memberText(memberText(answer, 'data') ?? '', 'me') ?? ''
  return elementTexts(memberText(me, list) ?? '') ?? []
}
