// The types of files as the palette knows them: by path, without content.
import type { Kind } from '../items.ts'

export interface FoundFile {
  readonly path: string
  readonly from: FilesFrom
  readonly searched: string
}

/** The source of the files: the export of a project, a template or a UI library. */
export interface FilesFrom {
  readonly kind: Kind
  /** The key of the source's item. */
  readonly opened: string
  /** Name of the project, template or library. */
  readonly name: string
  /** Absent for the newest export, and for sources without exports. */
  readonly exportKey?: string
}

/** A partial search result. */
export interface Finding {
  readonly files: readonly FoundFile[]
  /** Whether the result is complete, as far as is known. */
  readonly isAll: boolean
}
