// Finds an export of the user: that of the first project that has one.
import { elementTexts } from '../json-text.ts'
import { unlessArray } from './answer-body.ts'
import { CannotTellError } from './cannot-tell.ts'
import type { ProbeAnswer } from './exchange.ts'

/** Maximum number of projects to try. */
const MAX_TRIED_PROJECTS = 25

type Read = (path: string) => Promise<ProbeAnswer>

/**
 * Returns the path of the export. `readRef` returns null for a project without a reference. Throws `CannotTellError`,
 * which says why no export was found.
 */
export async function findExport(read: Read, readRef: (projectText: string) => string | null): Promise<string> {
  const projects = projectsOf(await read('/projects'))
  const refs = projects.flatMap((text) => readRef(text) ?? [])
  if (refs.length === 0) {
    throw new CannotTellError(projects.length === 0 ? 'this user has no projects' : 'no project has a reference')
  }
  const others = new Set<number>()
  for (const ref of refs.slice(0, MAX_TRIED_PROJECTS)) {
    const path = `/exports?r=${encodeURIComponent(ref)}`
    const { status } = await read(path)
    if (status === 200) return path
    if (status !== 404) others.add(status)
  }
  if (others.size > 0) {
    throw new CannotTellError(
      `it is not known whether there is an export: GET /exports answered ${[...others].join(', ')}`,
    )
  }
  throw new CannotTellError(
    refs.length > MAX_TRIED_PROJECTS
      ? `none of the first ${MAX_TRIED_PROJECTS} projects of this user has an export`
      : 'no project of this user has an export',
  )
}

/** The JSON texts of the projects. */
function projectsOf(answer: ProbeAnswer): readonly string[] {
  if (answer.status === 404) return []
  const found = answer.status === 200 ? unlessArray(answer) : `answered ${answer.status}`
  if (found !== null) throw new CannotTellError(`it is not known which projects there are: GET /projects ${found}`)
  return elementTexts(answer.body.toString()) ?? []
}
