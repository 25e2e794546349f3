// Loads stored documents as text, exactly as they are stored.
import { elementTexts, memberText } from '../../json-text.ts'
import { queryText } from '../answer/graphql-query.ts'
import type { Session } from '../sign-in/session/session.ts'

const DOCUMENT_LISTS = { projects: 'projects', templates: 'templates', libraries: 'uiLibraries' } as const

export interface StoredText {
  readonly name: string | null
  readonly description: string | null
  readonly text: string
}

/**
 * Loads the document whose item has this `key`, by its position in the list: `after` is the cursor of the preceding
 * item, null for the first. Throws an Error if another document is there by now.
 */
export async function loadDocument(
  session: Session,
  kind: keyof typeof DOCUMENT_LISTS,
  key: string,
  after: string | null,
): Promise<StoredText> {
  const fields = kind === 'projects' ? 'ref' : 'id documentId'
  const [found] = await listedTexts(session, kind, `${fields} name description data`, { first: 1, after })
  if (found === undefined || keyOf(found) !== key) {
    throw new Error('This workspace has changed meanwhile: open it again from the list.')
  }
  const [name = null, description = null] = ['name', 'description'].map(
    (member) => JSON.parse(memberText(found, member) ?? 'null') as string | null,
  )
  return { name, description, text: memberText(found, 'data') ?? '' }
}

/** The key of the document's item. It stays the same when the document is rewritten. */
export function keyOf(listed: string): string {
  const [ref, documentId, id] = ['ref', 'documentId', 'id'].map((name) =>
    JSON.parse(memberText(listed, name) ?? 'null'),
  )
  return ref ?? documentId ?? id
}

/** Loads list items with these fields, each as the JSON text that the gateway sent. */
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
