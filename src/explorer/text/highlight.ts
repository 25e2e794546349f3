// Highlights source code with the Lezer grammars; each grammar is loaded when a file first needs it.
import type { Tree } from '@lezer/common'
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight'
import { KINDS } from './json-lines.ts'
import type { Language } from './languages.ts'

interface Parser {
  readonly parse: (text: string) => Tree
}

const PARSERS: Readonly<Record<Exclude<Language, 'json' | 'text'>, () => Promise<Parser>>> = {
  typescript: async () => (await import('@lezer/javascript')).parser.configure({ dialect: 'ts jsx' }),
  javascript: async () => (await import('@lezer/javascript')).parser.configure({ dialect: 'jsx' }),
  css: async () => (await import('@lezer/css')).parser,
  html: async () => (await import('@lezer/html')).parser,
  markdown: async () => (await import('@lezer/markdown')).parser,
  python: async () => (await import('@lezer/python')).parser,
}

const HIGHLIGHTER = tagHighlighter([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.processingInstruction], class: `${KINDS.keyword}` },
  { tag: [tags.string, tags.regexp, tags.attributeValue, tags.url, tags.link], class: `${KINDS.string}` },
  { tag: [tags.comment, tags.meta], class: `${KINDS.comment}` },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit, tags.color], class: `${KINDS.number}` },
  { tag: [tags.propertyName, tags.attributeName], class: `${KINDS.name}` },
  { tag: [tags.typeName, tags.tagName, tags.className, tags.namespace], class: `${KINDS.type}` },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], class: `${KINDS.function}` },
  { tag: [tags.heading, tags.strong, tags.monospace], class: `${KINDS.heading}` },
])

/** Returns triples of from, to and kind, in the order of the text. */
export async function highlight(text: string, language: Exclude<Language, 'json' | 'text'>): Promise<Uint32Array> {
  const parser = await PARSERS[language]()
  const found: number[] = []
  highlightTree(parser.parse(text), HIGHLIGHTER, (from, to, kind) => {
    found.push(from, to, Number(kind.split(' ')[0]))
  })
  return Uint32Array.from(found)
}
