// Records of the import format as lines, with the bytes of what is stored in them.
import type { DocumentKind } from '../../store/contract.ts'

/** An export larger than this is written one element a line. */
export const MAX_LINE_LENGTH = 16_777_216

export function documentLine(kind: DocumentKind, email: string, text: string): string {
  return `{"kind":${JSON.stringify(kind)},"email":${JSON.stringify(email)},"data":${text}}\n`
}

/** A user who is there, and need have nothing. */
export function userLine(email: string): string {
  return `{"kind":"user","email":${JSON.stringify(email)}}\n`
}

interface ExportHead {
  readonly ref: string
  readonly createdAt: string
}

/** An export in one line. */
export function exportLine(email: string, { ref, createdAt }: ExportHead, elements: readonly string[]): string {
  return `${exportStart(email, ref, createdAt)},"data":[${elements.join(',')}]}\n`
}

/** The first line of an export whose elements follow in lines of their own. */
export function exportHeaderLine(email: string, { ref, createdAt }: ExportHead, id: string): string {
  return `${exportStart(email, ref, createdAt)},"id":${JSON.stringify(id)}}\n`
}

export function exportElementLine(id: string, text: string): string {
  return `{"kind":"exportElement","export":${JSON.stringify(id)},"data":${text}}\n`
}

/** The same in one line, or in many where one would be too long. `id` is for these, unique within the file. */
export function* exportLines(
  email: string,
  head: ExportHead,
  elements: readonly string[],
  id: string,
): Generator<string> {
  if (elements.reduce((sum, { length }) => sum + length, 0) <= MAX_LINE_LENGTH)
    return yield exportLine(email, head, elements)
  yield exportHeaderLine(email, head, id)
  for (const element of elements) yield exportElementLine(id, element)
}

function exportStart(email: string, ref: string, createdAt: string): string {
  return `{"kind":"export","email":${JSON.stringify(email)},"r":${JSON.stringify(ref)},"createdAt":${JSON.stringify(createdAt)}`
}
