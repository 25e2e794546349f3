// Resolvers of typed fields that are members of stored documents: null if the member is missing or has another type.
import { isStringList, isStringListInPieces } from '../../json-text.ts'
import type { StoredDocument } from '../../store/contract.ts'
import type { Context } from '../context.ts'
import { positionCursor } from '../pagination/cursors.ts'
import { fromMember, type HasText, type MemberField } from './member-field.ts'
import { createMemberReader } from './member-reader.ts'
import { type RawJson, toRawJson } from './raw-json.ts'

const QUOTE = 0x22
const INTEGER = /^-?\d+$/

function documentNodeId(document: StoredDocument, _args: object, { nodeIds }: Context): string {
  return nodeIds.document(document)
}

export function data(document: HasText): RawJson {
  return toRawJson(document.text)
}

/** A field that is a string. */
export function text(name: string) {
  return member<string>(name, (written) => (isString(written) ? written : null))
}

/** A field that is a list of strings. */
export function textList(name: string) {
  return member<readonly string[]>(
    name,
    (written) => (isStringList(written) ? written : null),
    function* acceptInPieces(written, pieceLength) {
      return (yield* isStringListInPieces(written, pieceLength)) ? written : null
    },
  )
}

/** The id inside the document: a string, or an integer of any size, returned as a string with all its digits. */
export const documentId = member<string>('id', (written) => {
  if (isString(written)) return written
  return INTEGER.test(written) ? `"${written}"` : null
})

/** The fields that projects, templates and UI libraries share. */
export const DOCUMENT_FIELDS = {
  id: documentNodeId,
  data,
  cursor: positionCursor,
  documentId,
  name: text('name'),
  description: text('description'),
  framework: text('framework'),
  tags: textList('tags'),
  version: text('version'),
  createdAt: text('createdAt'),
  updatedAt: text('updatedAt'),
}

function member<T>(
  name: string,
  accept: MemberField['accept'],
  acceptInPieces?: MemberField['acceptInPieces'],
): (document: HasText) => T | null {
  const reader = createMemberReader([name])
  return fromMember(
    (document: HasText) => {
      const [written = null] = reader.texts(document.text, [0])
      const accepted = written === null ? null : accept(written)
      return accepted === null ? null : (JSON.parse(accepted) as T)
    },
    { name, accept, ...(acceptInPieces ? { acceptInPieces } : {}) },
  )
}

function isString(written: string): boolean {
  return written.charCodeAt(0) === QUOTE
}
