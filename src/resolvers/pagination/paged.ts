// A list that is read in pages while it is answered, so that no more than one page of it is in memory.

const PAGES = Symbol('pages')

/** In order, one page a call; null after the last. The page before is let go: nothing here refers to it any more. */
export type NextPage<T> = () => Promise<readonly T[] | null>

export interface Paged<T> {
  readonly [PAGES]: true
  /**
   * A function, not an iterator: a generator that waits for its next page still refers to the last one, and with hundreds of
   * lists in one answer that is most of the memory it takes.
   */
  readonly nextPage: NextPage<T>
}

export function toPaged<T>(nextPage: NextPage<T>): Paged<T> {
  return { [PAGES]: true, nextPage }
}

export function isPaged(value: unknown): value is Paged<unknown> {
  return typeof value === 'object' && value !== null && PAGES in value
}
