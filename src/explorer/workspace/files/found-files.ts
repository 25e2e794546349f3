// Filters and ranks the files that the palette searches, and builds their addresses.

import { searchedText } from '../../searched-text.ts'
import { addressOf } from '../addresses.ts'
import type { FilesFrom, FoundFile } from './found-file.ts'

export function filesOf(from: FilesFrom, paths: readonly string[]): readonly FoundFile[] {
  return [...new Set(paths)]
    .filter((path) => path.trim() !== '')
    .map((path) => ({ path, from, searched: searchedText(`${path} ${from.name}`) }))
}

/** The address that opens the file. */
export function addressOfFile({ path, from: { kind, opened, exportKey } }: FoundFile): string {
  const shown = exportKey === undefined ? {} : { export: exportKey }
  const tab = kind === 'projects' ? ({ tab: 'files' } as const) : {}
  return addressOf({ kind, opened, ...tab, ...shown, file: path })
}

/** Returns at most `most` files that match every word. Files whose own name begins with the first word come first. */
export function matchingFiles(
  files: readonly FoundFile[],
  words: readonly string[],
  most: number,
): readonly FoundFile[] {
  const [first = ''] = words
  const ranks: readonly FoundFile[][] = [[], [], []]
  for (const file of files) {
    if (!words.every((word) => file.searched.includes(word))) continue
    const name = searchedText(file.path.slice(file.path.lastIndexOf('/') + 1))
    ranks[name.startsWith(first) ? 0 : name.includes(first) ? 1 : 2]?.push(file)
    if (ranks[0]?.length === most) break
  }
  return ranks.flat().slice(0, most)
}
