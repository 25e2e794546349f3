// Files as the palette knows them: by their paths, without what is in them.
import type { Kind } from '../items.ts'

export interface FoundFile {
  readonly path: string
  readonly from: FilesFrom
  readonly searched: string
}

/** The export of a project, the template or the UI library that files are of. */
export interface FilesFrom {
  readonly kind: Kind
  /** The key of its item. */
  readonly opened: string
  /** Of the project, the template or the library. */
  readonly name: string
  /** Absent for the newest one, and where there are no exports. */
  readonly exportKey?: string
}

/** A part of a search. */
export interface Finding {
  readonly files: readonly FoundFile[]
  /** Whether the search leaves nothing out, as far as is known. */
  readonly isAll: boolean
}
