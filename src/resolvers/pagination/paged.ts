// A list that is read in pages while it is answered, so that no more than one page of it is in memory.

const PAGES = Symbol('pages')

export interface Paged<T> {
  readonly [PAGES]: true
  /** In order; each is used before the next is asked for. */
  readonly pages: () => AsyncIterable<readonly T[]>
}

export function toPaged<T>(pages: () => AsyncIterable<readonly T[]>): Paged<T> {
  return { [PAGES]: true, pages }
}

export function isPaged(value: unknown): value is Paged<unknown> {
  return typeof value === 'object' && value !== null && PAGES in value
}
