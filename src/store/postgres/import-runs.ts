// Where a list of import steps is divided in PostgreSQL, so that each part may be done type by type.
import type { Change } from '../contract.ts'
import type { Connection, Statement } from './connection.ts'
import { keyOf } from './engine/name-hash.ts'
import { isRemoval } from './removals.ts'
import type { PutDocument } from './upsert-documents.ts'

// Each is looked up by itself: see upsert-documents.ts.
const STORED_REFS: Statement = {
  name: 'storedReferences',
  text: `select asked.n, d.ref from unnest($1::bigint[], $2::bytea[]) with ordinality as asked (user_id, id_key, n)
    cross join lateral (
      select ref from workspace_gateway.document
      where user_id = asked.user_id and kind = 'project' and workspace_gateway.key_of(id) = asked.id_key offset 0) d`,
}

/**
 * Removals of one type are a run; so is all that adds between two of them, unless a project changes its reference: it takes along
 * the exports that were imported before, and none of those after. The users that there are have been locked.
 */
export async function divide(
  connection: Connection,
  changes: readonly Change[],
  userIds: ReadonlyMap<string, number>,
): Promise<readonly (readonly Change[])[]> {
  const moving = await changesOfReferences(connection, changes, userIds)
  const runs: Change[][] = []
  let last: string | undefined
  let isMoved = false
  const put = new Set<string>()
  for (const change of changes) {
    const kind = isRemoval(change) ? change.type : 'adding'
    const isAgain = isProject(change) && moving.has(change) && put.has(nameOf(change))
    if (kind !== last || isAgain || (isMoved && isOfExport(change))) {
      runs.push([])
      isMoved = false
      put.clear()
    }
    runs.at(-1)?.push(change)
    last = kind
    isMoved ||= moving.has(change)
    if (isProject(change)) put.add(nameOf(change))
  }
  return runs
}

/** Of each project that has more than one reference in the list and before it: all its steps. */
async function changesOfReferences(
  connection: Connection,
  changes: readonly Change[],
  userIds: ReadonlyMap<string, number>,
): Promise<ReadonlySet<Change>> {
  const projects = changes.filter(isProject)
  const refs = new Map<string, Set<string | null>>(projects.map((project) => [nameOf(project), new Set()]))
  for (const project of projects) refs.get(nameOf(project))?.add(project.ref)
  // Without exports in the list it does not matter which there were before.
  const known = changes.some(isOfExport) ? projects.filter(({ email }) => userIds.has(email)) : []
  if (known.length > 0) {
    const ids = [known.map(({ email }) => userIds.get(email)), known.map(({ id }) => keyOf(id))]
    for (const { n, ref } of await connection.query<{ n: number; ref: string }>(STORED_REFS, ids)) {
      const project = known[n - 1]
      if (project) refs.get(nameOf(project))?.add(ref)
    }
  }
  return new Set(projects.filter((project) => (refs.get(nameOf(project))?.size ?? 0) > 1))
}

function isProject(change: Change): change is PutDocument {
  return change.type === 'putDocument' && change.kind === 'project'
}

function isOfExport({ type }: Change): boolean {
  return type === 'stageExport' || type === 'sealExport'
}

function nameOf({ email, id }: PutDocument): string {
  return `${email} ${id}`
}
