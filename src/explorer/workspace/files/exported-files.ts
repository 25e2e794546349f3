// Finds the files of every project's newest export by their paths.
import { query } from '../../answer/graphql-query.ts'
import type { Session } from '../../sign-in/session/session.ts'
import type { Item } from '../items.ts'
import type { Finding } from './found-file.ts'
import { filesOf } from './found-files.ts'

/** Adjacent projects whose newest exports are loaded with one request. */
interface FileRun {
  readonly after: string | null
  readonly projects: readonly Item[]
}

/** Maximum number of files to search; a user with more files can search within a project. */
const MOST_FILES = 60_000
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

/** A version that changes when one of the exports does. */
export function exportsVersion(projects: readonly Item[]): string {
  return projects.map(({ key, digest }) => `${key} ${digest}`).join('\n')
}

/** Yields the files request by request. `projects` must be in stored order. */
export async function* findExportedFiles(session: Session, projects: readonly Item[]): AsyncGenerator<Finding> {
  const all = projects.reduce((sum, { fileCount }) => sum + fileCount, 0)
  for (const run of runsOf(projects)) {
    const paths = await loadPaths(session, run)
    const files = run.projects.flatMap(({ key, name }) =>
      filesOf({ kind: 'projects', opened: key, name }, paths.get(key) ?? []),
    )
    yield { files, isAll: true }
  }
  if (all > MOST_FILES) yield { files: [], isAll: false }
}

/** Groups the projects into requests. A project without files is included only between others. */
function runsOf(projects: readonly Item[]): readonly FileRun[] {
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

/** Loads the paths of each project's newest export, keyed by project reference. */
async function loadPaths(session: Session, { after, projects }: FileRun): Promise<Map<string, readonly string[]>> {
  const { me } = await query<Answer>(session, QUERY, { first: projects.length, after })
  return new Map(
    me?.projects.map(({ ref, latestExport }) => [ref, (latestExport?.elements ?? []).map(({ path }) => path ?? '')]),
  )
}
