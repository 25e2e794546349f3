// Typed fields of stored documents: read from the document, null when it lacks them or holds another type.
import { memberText } from '../../json-text.ts'
import { type RawJson, toRawJson } from '../raw-json.ts'

export interface HasText {
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>

/** A row lives as long as its request, so a document is parsed once per request, and only if a typed field is asked for. */
const parsed = new WeakMap<HasText, Fields>()

const INTEGER = /^-?\d+$/

export function data(document: HasText): RawJson {
  return toRawJson(document.text)
}

export function text(name: string): (document: HasText) => string | null {
  return (document) => {
    const value = fieldsOf(document)[name]
    return typeof value === 'string' ? value : null
  }
}

export function textList(name: string): (document: HasText) => readonly string[] | null {
  return (document) => {
    const value = fieldsOf(document)[name]
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null
  }
}

/** A string, or an integer of any size with all its digits. */
export function id(document: HasText): string | null {
  const value = fieldsOf(document).id
  if (typeof value !== 'number') return typeof value === 'string' ? value : null
  const written = memberText(document.text, 'id') ?? ''
  return INTEGER.test(written) ? written : null
}

function fieldsOf(document: HasText): Fields {
  const known = parsed.get(document)
  if (known) return known
  const value: unknown = JSON.parse(document.text)
  const fields = typeof value === 'object' && value !== null ? (value as Fields) : {}
  parsed.set(document, fields)
  return fields
}
