// Extracts the files and components of a document.
import { elementTexts, membersOf, memberText } from '../../json-text.ts'
import { type Element, elementsOf } from './project/elements.ts'

export interface DocumentParts {
  /** The files of a template, or the components of a UI library with their files; empty if it has neither. */
  readonly elements: readonly Element[]
  /** Number of components; each may have several elements. */
  readonly componentCount: number
}

export function partsOf(document: string): DocumentParts {
  const files = elementsOf(memberText(document, 'files') ?? 'null')
  const components = memberText(document, 'components') ?? 'null'
  const listed = elementTexts(components)?.map((text, index) => ({
    name: nameOf(text) ?? `component ${index + 1}`,
    text,
  }))
  const named = membersOf(components).map(({ name, start, end }) => ({ name, text: components.slice(start, end) }))
  const found = listed ?? named
  return { elements: [...files, ...found.flatMap(elementsOfComponent)], componentCount: found.length }
}

function elementsOfComponent({ name, text }: { readonly name: string; readonly text: string }): readonly Element[] {
  const own = elementsOf(memberText(text, 'files') ?? 'null').filter(({ isFile }) => isFile)
  return [
    { path: `${name}/${name}.json`, content: text, isFile: false, isBase64: false },
    ...own.map((file) => ({ ...file, path: `${name}/${file.path}` })),
  ]
}

function nameOf(text: string): string | null {
  const name: unknown = JSON.parse(memberText(text, 'name') ?? 'null')
  return typeof name === 'string' ? name : null
}
