// A mutant that changes nothing anybody could see: what is said of one.
export interface Equivalent {
  readonly path: string
  /** The whole line, without the white space around it. */
  readonly line: string
  /** What is replaced in it, and by what; every mutant of the line where neither is given. */
  readonly from?: string
  readonly to?: string
  readonly reason: string
}
