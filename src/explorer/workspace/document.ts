// One stored document as text, exactly as it is kept.
import { elementTexts, membersOf, memberText } from '../../json-text.ts'
import { queryText } from '../answer/graphql-query.ts'
import type { Session } from '../sign-in/session.ts'
import { type Element, elementsOf } from './project/elements.ts'

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
  const { name, description } = JSON.parse(found) as { name: string | null; description: string | null }
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

/** The files of a template, or the components of a UI library with theirs; none where there are none. */
export function partsOf(document: string): readonly Element[] {
  const files = elementsOf(memberText(document, 'files') ?? 'null')
  const components = memberText(document, 'components') ?? 'null'
  const listed = elementTexts(components)?.map((text, index) => ({
    name: nameOf(text) ?? `component ${index + 1}`,
    text,
  }))
  const named = membersOf(components).map(({ name, start, end }) => ({ name, text: components.slice(start, end) }))
  return [
    ...files,
    ...(listed ?? named).flatMap(({ name, text }): readonly Element[] => {
      const own = elementsOf(memberText(text, 'files') ?? 'null').filter(({ isFile }) => isFile)
      return [
        { path: `${name}/${name}.json`, content: text, isFile: false, isBase64: false },
        ...own.map((file) => ({ ...file, path: `${name}/${file.path}` })),
      ]
    }),
  ]
}

function nameOf(text: string): string | null {
  const name: unknown = JSON.parse(memberText(text, 'name') ?? 'null')
  return typeof name === 'string' ? name : null
}
