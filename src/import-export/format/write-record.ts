// Records of the import format as lines, with the bytes of what is stored in them; large exports an element a line.
import type { DocumentKind } from '../../store/contract.ts'

/** An export larger than this is written one element a line. */
const MAX_LINE_LENGTH = 16_777_216

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
  readonly length: number
  readonly id: string
}

/**
 * An export in one line, or an element a line where one would be too long. `length` is that of all elements, about; `id` is for the lines
 * of elements, unique within the file.
 */
export async function* exportLines(
  email: string,
  { ref, createdAt, length, id }: ExportHead,
  elements: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  const start = exportStart(email, ref, createdAt)
  if (length <= MAX_LINE_LENGTH) return yield `${start},"data":[${(await Array.fromAsync(elements)).join(',')}]}\n`
  yield `${start},"id":${JSON.stringify(id)}}\n`
  for await (const element of elements) {
    yield `{"kind":"exportElement","export":${JSON.stringify(id)},"data":${element}}\n`
  }
}

function exportStart(email: string, ref: string, createdAt: string): string {
  return `{"kind":"export","email":${JSON.stringify(email)},"r":${JSON.stringify(ref)},"createdAt":${JSON.stringify(createdAt)}`
}
