// Describes a mutant that changes nothing anybody could see.
export interface Equivalent {
  readonly path: string
  /** The whole line, without the surrounding white space. */
  readonly line: string
  /** What is replaced in the line, and by what; every mutant of the line if neither is given. */
  readonly from?: string
  readonly to?: string
  readonly reason: string
}
