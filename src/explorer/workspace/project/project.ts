// Loads a project, its export history, and the text of any of its exports.
import { elementTexts, memberText } from '../../../json-text.ts'
import { query, queryText } from '../../answer/graphql-query.ts'
import type { Session } from '../../sign-in/session/session.ts'

export interface ExportFacts {
  readonly createdAt: string
  readonly digest: string
  readonly byteLength: number
  readonly elementCount: number
  readonly cursor: string
}

export interface Project {
  readonly ref: string
  readonly name: string | null
  readonly description: string | null
  readonly framework: string | null
  readonly tags: readonly string[] | null
  readonly version: string | null
  readonly createdAt: string | null
  readonly updatedAt: string | null
  /** Newest first. */
  readonly exports: readonly ExportFacts[]
}

const QUERY = `query($ref: String!) { me { project(ref: $ref) {
  ref name description framework tags version createdAt updatedAt
  exports { createdAt digest byteLength elementCount cursor }
} } }`

const CHANGED = 'This project has changed meanwhile: open it again from the list.'

/** Resolves to null if the user has no project with this reference, or no longer. */
export async function loadProject(session: Session, ref: string): Promise<Project | null> {
  const { me } = await query<{ me: { project: Project | null } | null }>(session, QUERY, { ref })
  return me?.project ?? null
}

/** Finds an export by its key; a null key means the newest export. Returns null if there is none. */
export function findExport({ exports }: Project, key: string | null): ExportFacts | null {
  return (key === null ? exports[0] : exports.find((facts) => exportKey(facts) === key)) ?? null
}

/**
 * A key that is unique in the project: digest prefix and creation time, because equal content may be exported twice.
 */
export function exportKey({ digest, createdAt }: ExportFacts): string {
  return `${digest.slice(0, 12)}@${createdAt}`
}

/**
 * Loads the text that `GET /exports?r=` returns, or returned while this export was the newest. The newest export is
 * loaded over REST, which serves exports of any size. Throws an Error if the project has changed meanwhile.
 */
export async function loadExport(session: Session, project: Project, facts: ExportFacts): Promise<string> {
  const before = project.exports[project.exports.indexOf(facts) - 1]
  if (before === undefined) {
    const answer = await session.send(`/exports?r=${encodeURIComponent(project.ref)}`)
    if (!answer.ok) throw new Error(answer.status === 404 ? CHANGED : `The gateway answered ${answer.status}.`)
    // A compressing proxy may make the entity tag weak, add a content coding to it, or drop it.
    const tag = answer.headers.get('etag')?.replace(/^W\//, '')
    if (tag !== undefined && !tag.startsWith(`"${facts.digest}`)) throw new Error(CHANGED)
    return answer.text()
  }
  const text = `query($ref: String!, $after: String) { me { project(ref: $ref) { exports(first: 1, after: $after) { digest data } } } }`
  const answer = await queryText(session, text, { ref: project.ref, after: before.cursor })
  let found = memberText(answer, 'data') ?? 'null'
  for (const name of ['me', 'project', 'exports']) found = memberText(found, name) ?? 'null'
  const [one = 'null'] = elementTexts(found) ?? []
  if (memberText(one, 'digest') !== JSON.stringify(facts.digest)) {
    throw new Error(CHANGED)
  }
  return memberText(one, 'data') ?? '[]'
}
