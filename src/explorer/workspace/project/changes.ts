// Compares two exports by path: which files were added, removed or changed.
import { compareNames } from '../natural-order.ts'
import { type Element, elementsOf } from './elements.ts'

export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly path: string
  readonly before: Element | null
  readonly after: Element | null
}

export interface Changes {
  readonly changes: readonly Change[]
  readonly sameCount: number
}

/**
 * Compares the stored texts of two exports. If several elements share a path, the last one counts, as it does for
 * somebody who unpacks the export.
 */
export function changesBetween(older: string, newer: string): Changes {
  const [before, after] = [older, newer].map(
    (body) => new Map(elementsOf(body).map((element) => [element.path, element])),
  )
  const paths = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].sort(compareNames)
  const changes = paths.flatMap((path): readonly Change[] => {
    const [was, is] = [before?.get(path) ?? null, after?.get(path) ?? null]
    if (was && is) return isSame(was, is) ? [] : [{ kind: 'changed', path, before: was, after: is }]
    return [{ kind: was ? 'removed' : 'added', path, before: was, after: is }]
  })
  return { changes, sameCount: paths.length - changes.length }
}

/** Whether both have the same bytes. Equal `content` is not enough: it may be text in one and base64 in the other. */
function isSame(was: Element, is: Element): boolean {
  return was.content === is.content && was.isBase64 === is.isBase64 && was.isFile === is.isFile
}
