// Typed fields of stored documents: read from the document, null when it lacks them or holds another type.
import { memberText } from '../../json-text.ts'
import type { StoredDocument } from '../../store/contract.ts'
import type { Context } from '../context.ts'
import type { HasText } from './parsed-documents.ts'
import { type RawJson, toRawJson } from './raw-json.ts'

const INTEGER = /^-?\d+$/

export function documentNodeId(document: StoredDocument, _args: object, { nodeIds }: Context): string {
  return nodeIds.document(document)
}

export function data(document: HasText): RawJson {
  return toRawJson(document.text)
}

export function text(name: string): (document: HasText, args: object, context: Context) => string | null {
  return (document, _args, { fieldsOf }) => {
    const value = fieldsOf(document)[name]
    return typeof value === 'string' ? value : null
  }
}

export function textList(
  name: string,
): (document: HasText, args: object, context: Context) => readonly string[] | null {
  return (document, _args, { fieldsOf }) => {
    const value = fieldsOf(document)[name]
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null
  }
}

/** What the document calls its id: a string, or an integer of any size with all its digits. */
export function documentId(document: HasText, _args: object, { fieldsOf }: Context): string | null {
  const value = fieldsOf(document).id
  if (typeof value !== 'number') return typeof value === 'string' ? value : null
  const written = memberText(document.text, 'id') ?? ''
  return INTEGER.test(written) ? written : null
}
