// A file of an export as the palette knows it: by its path, without what is in it.

export interface FoundFile {
  readonly path: string
  readonly from: FilesFrom
  readonly searched: string
}

/** The export that files are of. */
export interface FilesFrom {
  readonly ref: string
  /** Of the project. */
  readonly name: string
  /** Absent for the newest one. */
  readonly exportKey?: string
}
