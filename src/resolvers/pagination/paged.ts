// A list that is read in pages while the response is made, so that only one page of it is in memory.

const PAGES = Symbol('pages')

/** Each call returns the next page, and null after the last one. It also releases the page before. */
export type NextPage<T> = () => Promise<readonly T[] | null>

export interface Paged<T> {
  readonly [PAGES]: true
  /**
   * A function, not an iterator: a generator that waits for its next page still refers to the last one. With hundreds
   * of lists in one response, those pages would be most of the memory in use.
   */
  readonly nextPage: NextPage<T>
}

export function toPaged<T>(nextPage: NextPage<T>): Paged<T> {
  return { [PAGES]: true, nextPage }
}

export function isPaged(value: unknown): value is Paged<unknown> {
  return typeof value === 'object' && value !== null && PAGES in value
}
