// A project with its exports, and the files of the newest.
import { elementTexts } from '../../json-text.ts'
import { query } from '../graphql-query.ts'
import type { Session } from '../session.ts'

export interface ExportFacts {
  readonly createdAt: string
  readonly digest: string
  readonly byteLength: number
  readonly elementCount: number
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

/** An element of an export: a file where it has a path and a content. */
export interface Element {
  readonly path: string
  readonly content: string
  /** Whether `content` is what the element calls its content, rather than the element itself. */
  readonly isFile: boolean
}

export interface OpenedProject {
  readonly project: Project
  /** The body of `GET /exports?r=`, untouched; null when there is no export. */
  readonly exportBody: Uint8Array<ArrayBuffer> | null
  readonly elements: readonly Element[]
}

const QUERY = `query($ref: String!) { me { project(ref: $ref) {
  ref name description framework tags version createdAt updatedAt
  exports { createdAt digest byteLength elementCount }
} } }`

export async function openProject(session: Session, ref: string): Promise<OpenedProject> {
  const { me } = await query<{ me: { project: Project | null } | null }>(session, QUERY, { ref })
  if (!me?.project) throw new Error('You have no project with this reference.')
  if (me.project.exports.length === 0) return { project: me.project, exportBody: null, elements: [] }
  const answer = await session.send(`/exports?r=${encodeURIComponent(ref)}`)
  if (!answer.ok) throw new Error(`The newest export could not be read (${answer.status}).`)
  const exportBody = new Uint8Array(await answer.arrayBuffer())
  return { project: me.project, exportBody, elements: elementsOf(new TextDecoder().decode(exportBody)) }
}

export function elementsOf(body: string): readonly Element[] {
  return (elementTexts(body) ?? []).map((text, index) => {
    const value: unknown = JSON.parse(text)
    const { path, content } = (typeof value === 'object' && value !== null ? value : {}) as {
      readonly path?: unknown
      readonly content?: unknown
    }
    if (typeof path === 'string' && typeof content === 'string') return { path, content, isFile: true }
    const name = typeof path === 'string' ? path : `element ${index + 1}`
    return { path: name, content: text, isFile: false }
  })
}
