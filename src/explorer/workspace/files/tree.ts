// Builds a folder tree from paths and flattens it to the visible rows.
import { compareNames } from '../natural-order.ts'
import type { Element } from '../project/elements.ts'

export interface TreeRow {
  readonly depth: number
  readonly name: string
  /** The folder's path with a trailing slash; null for a file. */
  readonly folder: string | null
  readonly element: Element | null
  /** Position among the siblings, from 1, and the number of siblings. */
  readonly position: number
  readonly size: number
}

export interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: { readonly name: string; readonly element: Element }[]
}

/** Folders of a path that the tree shows. A path of a megabyte may have half a million, which no tab survives. */
const MOST_FOLDERS = 100

/** Splits a path into its folders and the name of the file. The name contains the folders beyond MOST_FOLDERS. */
function partsOf(path: string): { readonly folders: readonly string[]; readonly name: string } {
  const parts = path.split('/').filter((part) => part !== '')
  const folders = parts.slice(0, -1).slice(0, MOST_FOLDERS)
  return { folders, name: parts.slice(folders.length).join('/') || path }
}

function emptyFolder(): Folder {
  return { folders: new Map(), files: [] }
}

export function treeOf(elements: readonly Element[]): Folder {
  const root = emptyFolder()
  for (const element of elements) {
    const { folders, name } = partsOf(element.path)
    let folder = root
    for (const part of folders) {
      const next = folder.folders.get(part) ?? emptyFolder()
      folder.folders.set(part, next)
      folder = next
    }
    folder.files.push({ name, element })
  }
  return root
}

/** Lists folders before files, both by name, with numbers in numeric order. */
export function rowsOf(root: Folder, unfolded: ReadonlySet<string>): readonly TreeRow[] {
  const rows: TreeRow[] = []
  function add({ folders, files }: Folder, depth: number, prefix: string): void {
    const size = folders.size + files.length
    let position = 0
    for (const [name, inside] of [...folders].sort(([a], [b]) => compareNames(a, b))) {
      const path = `${prefix}${name}/`
      position += 1
      rows.push({ depth, name, folder: path, element: null, position, size })
      if (unfolded.has(path)) add(inside, depth + 1, path)
    }
    for (const { name, element } of files.toSorted((a, b) => compareNames(a.name, b.name))) {
      position += 1
      rows.push({ depth, name, folder: null, element, position, size })
    }
  }
  add(root, 0, '')
  return rows
}

/** Returns the ancestor folders of a path that the tree shows, each with a trailing slash. */
export function foldersOf(path: string): readonly string[] {
  const { folders } = partsOf(path)
  return folders.map((_, index) => `${folders.slice(0, index + 1).join('/')}/`)
}

const ENTRIES = [/^readme\b/i, /^(?:index|main|app|page)\.[jt]sx?$/i, /^index\.html$/i, /^package\.json$/i]

/**
 * Chooses the file to open first: a readme, an entry file, or else the file nearest to the root. One pass, because
 * there may be very many files.
 */
export function entryOf(elements: readonly Element[]): Element | null {
  let best: { readonly element: Element; readonly score: number } | null = null
  for (const element of elements) {
    const parts = element.path.split('/')
    const entry = ENTRIES.findIndex((pattern) => pattern.test(parts.at(-1) ?? ''))
    const score = parts.length * 10 + (entry === -1 ? ENTRIES.length : entry)
    const isBefore =
      best === null || score < best.score || (score === best.score && compareNames(element.path, best.element.path) < 0)
    if (isBefore) best = { element, score }
  }
  return best?.element ?? null
}
