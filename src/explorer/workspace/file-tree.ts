// Paths as a tree, flattened to the rows that are unfolded.
import type { Element } from './project.ts'

export interface TreeRow {
  readonly depth: number
  readonly name: string
  /** The folder's path, or null for a file. */
  readonly folder: string | null
  readonly element: Element | null
}

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: { readonly name: string; readonly element: Element }[]
}

function emptyFolder(): Folder {
  return { folders: new Map(), files: [] }
}

export function treeOf(elements: readonly Element[]): Folder {
  const root = emptyFolder()
  for (const element of elements) {
    const parts = element.path.split('/').filter((part) => part !== '')
    const name = parts.pop() ?? element.path
    let folder = root
    for (const part of parts) {
      const next = folder.folders.get(part) ?? emptyFolder()
      folder.folders.set(part, next)
      folder = next
    }
    folder.files.push({ name, element })
  }
  return root
}

/** Folders before files, both by name. */
export function rowsOf(folder: Folder, folded: ReadonlySet<string>, depth = 0, prefix = ''): readonly TreeRow[] {
  const folders = [...folder.folders].sort(([a], [b]) => a.localeCompare(b))
  const files = folder.files.toSorted((a, b) => a.name.localeCompare(b.name))
  return [
    ...folders.flatMap(([name, inside]) => {
      const path = `${prefix}${name}/`
      const row = { depth, name, folder: path, element: null }
      return folded.has(path) ? [row] : [row, ...rowsOf(inside, folded, depth + 1, path)]
    }),
    ...files.map(({ name, element }) => ({ depth, name, folder: null, element })),
  ]
}
