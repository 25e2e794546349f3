// Row ids composed of the columns that lists are read by, so that a list is contiguous on disk. They have 64 bits, so
// SQL computes them.
import type { DocumentKind } from '../../contract.ts'

/** The kind's two bits in a document's key. */
export const KIND_CODES: { readonly [K in DocumentKind]: number } = { project: 1, template: 2, uiLibrary: 3 }

/** 35 bits of user id, 2 of kind, 26 of position. */
export const DOCUMENT_KEY = '((? << 28) | (? << 26) | ?)'
export const DOCUMENT_POSITION = '(key & 67108863)'
export const MAX_DOCUMENT_POSITION = 67_108_863

/** 39 bits of export id, 24 of position. */
export const ELEMENT_KEY = '((? << 24) | ?)'
export const ELEMENT_POSITION = '(key & 16777215)'

/** The last position of a page that ends before `before`, or at `max` without it. */
export function lastBefore(before: number | undefined, max: number): number {
  return before === undefined ? max : Math.min(Math.max(before - 1, 0), max)
}
