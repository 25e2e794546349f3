// The files of exports, to be found by their paths: which of them are asked for together, and which of them fit.
import { query } from '../../answer/graphql-query.ts'
import type { Session } from '../../sign-in/session.ts'
import { addressOf } from '../addresses.ts'
import type { Item } from '../items.ts'
import type { FilesFrom, FoundFile } from './found-file.ts'

/** Neighbours in the list of projects whose newest exports are read with one request. */
export interface FileRun {
  readonly after: string | null
  readonly projects: readonly Item[]
}

/** More are not looked through: a person who has more finds them in their project. */
export const MOST_FILES = 60_000
const MOST_FILES_AT_ONCE = 5_000
const MOST_PROJECTS_AT_ONCE = 200

const QUERY = `query($first: Int!, $after: String) { me { projects(first: $first, after: $after) {
  ref latestExport { elements { path } }
} } }`

interface Answer {
  readonly me: {
    readonly projects: readonly {
      readonly ref: string
      readonly latestExport: { readonly elements: readonly { readonly path: string | null }[] } | null
    }[]
  } | null
}

/** `projects` in stored order. Those without files are asked for only between others. */
export function runsOf(projects: readonly Item[]): readonly FileRun[] {
  const runs: { after: string | null; projects: Item[]; count: number }[] = []
  let [total, isOpen] = [0, false]
  for (const project of projects) {
    const run = isOpen ? runs.at(-1) : undefined
    if (project.fileCount === 0 && !run) continue
    total += project.fileCount
    if (total > MOST_FILES) break
    const fits = run && run.count + project.fileCount <= MOST_FILES_AT_ONCE
    if (fits && run.projects.length < MOST_PROJECTS_AT_ONCE) {
      run.projects.push(project)
      run.count += project.fileCount
    } else if (project.fileCount > 0) {
      runs.push({ after: project.after, projects: [project], count: project.fileCount })
    }
    isOpen = true
  }
  return runs
}

/** The paths of the newest export of each project, by its reference. */
export async function loadPaths(
  session: Session,
  { after, projects }: FileRun,
): Promise<Map<string, readonly string[]>> {
  const { me } = await query<Answer>(session, QUERY, { first: projects.length, after })
  return new Map(
    me?.projects.map(({ ref, latestExport }) => {
      const paths = (latestExport?.elements ?? []).map(({ path }) => path ?? '')
      return [ref, [...new Set(paths)].filter((path) => path.trim() !== '')]
    }),
  )
}

export function filesOf(from: FilesFrom, paths: readonly string[]): readonly FoundFile[] {
  return paths.map((path) => ({ path, from, searched: `${path} ${from.name}`.toLowerCase() }))
}

/** Where it is opened. */
export function addressOfFile({ path, from: { ref, exportKey } }: FoundFile): string {
  const shown = exportKey === undefined ? {} : { export: exportKey }
  return addressOf({ kind: 'projects', opened: ref, tab: 'files', ...shown, file: path })
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
