// Writes records of the import format as lines, with the stored bytes; large exports with one element per line.
import type { DocumentKind } from '../../store/contract.ts'

/**
 * An export larger than this is written with one element per line. A smaller one has at most a million values, for which
 * even a small heap has room.
 */
const MAX_LINE_LENGTH = 2_097_152

export function documentLine(kind: DocumentKind, email: string, text: string): string {
  return `{"kind":${JSON.stringify(kind)},"email":${JSON.stringify(email)},"data":${text}}\n`
}

/** A line for a user who exists, with or without data. */
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
 * Yields an export as one line, or as one line per element when one line would be too long. `length` is the approximate
 * length of all elements. `id` links the element lines and must be unique within the file.
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
