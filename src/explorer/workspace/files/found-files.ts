// Files that the palette has found: which of them fit, and where they are opened.
import { addressOf } from '../addresses.ts'
import type { FilesFrom, FoundFile } from './found-file.ts'

export function filesOf(from: FilesFrom, paths: readonly string[]): readonly FoundFile[] {
  return [...new Set(paths)]
    .filter((path) => path.trim() !== '')
    .map((path) => ({ path, from, searched: `${path} ${from.name}`.toLowerCase() }))
}

/** Where it is opened. */
export function addressOfFile({ path, from: { kind, opened, exportKey } }: FoundFile): string {
  const shown = exportKey === undefined ? {} : { export: exportKey }
  const tab = kind === 'projects' ? ({ tab: 'files' } as const) : {}
  return addressOf({ kind, opened, ...tab, ...shown, file: path })
}

/** Those in which every word is found, at most so many; first the ones whose own name begins with what is looked for. */
export function matchingFiles(
  files: readonly FoundFile[],
  words: readonly string[],
  most: number,
): readonly FoundFile[] {
  const [first = ''] = words
  const ranks: readonly FoundFile[][] = [[], [], []]
  for (const file of files) {
    if (!words.every((word) => file.searched.includes(word))) continue
    const name = file.path.slice(file.path.lastIndexOf('/') + 1).toLowerCase()
    ranks[name.startsWith(first) ? 0 : name.includes(first) ? 1 : 2]?.push(file)
    if (ranks[0]?.length === most) break
  }
  return ranks.flat().slice(0, most)
}
