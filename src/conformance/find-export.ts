// An export that a user has: the first that one of the user's projects shows.
import { elementTexts } from '../json-text.ts'
import { unlessArray } from './answer-body.ts'
import { CannotTellError } from './cannot-tell.ts'
import type { ProbeAnswer } from './exchange.ts'

/** Projects that are asked for an export until one has one. */
const MAX_TRIED_PROJECTS = 25

type Read = (path: string) => Promise<ProbeAnswer>

/** Its path. `readRef` answers null for a project without a reference. Throws `CannotTellError`, which says why there is none. */
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

/** Their JSON texts. */
function projectsOf(answer: ProbeAnswer): readonly string[] {
  if (answer.status === 404) return []
  const found = answer.status === 200 ? unlessArray(answer) : `answered ${answer.status}`
  if (found !== null) throw new CannotTellError(`it is not known which projects there are: GET /projects ${found}`)
  return elementTexts(answer.body.toString()) ?? []
}
