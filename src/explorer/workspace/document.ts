// One stored document as text, exactly as it is kept.
import { elementTexts, memberText } from '../../json-text.ts'
import { queryText } from '../answer/graphql-query.ts'
import type { Session } from '../sign-in/session.ts'

const DOCUMENT_LISTS = { projects: 'projects', templates: 'templates', libraries: 'uiLibraries' } as const

export interface StoredText {
  readonly name: string | null
  readonly description: string | null
  readonly text: string
}

/** `after` is the cursor of the item before it; null for the first. */
export async function loadDocument(
  session: Session,
  kind: keyof typeof DOCUMENT_LISTS,
  after: string | null,
): Promise<StoredText> {
  const [found] = await listedTexts(session, kind, 'name description data', { first: 1, after })
  if (found === undefined) throw new Error('It is not there any more.')
  const [name = null, description = null] = ['name', 'description'].map(
    (member) => JSON.parse(memberText(found, member) ?? 'null') as string | null,
  )
  return { name, description, text: memberText(found, 'data') ?? '' }
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
