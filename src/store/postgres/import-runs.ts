// Divides a list of import steps into runs within which steps may be executed type by type.
import type { Change } from '../contract.ts'
import type { Connection, Statement } from './connection.ts'
import { keyOf } from './engine/name-hash.ts'
import { isRemoval } from './removals.ts'
import type { PutDocument } from './upsert-documents.ts'

// `lateral` with `offset 0` forces one index lookup per id: see upsert-documents.ts.
const STORED_REFS: Statement = {
  name: 'storedReferences',
  text: `select asked.n, d.ref from unnest($1::bigint[], $2::bytea[]) with ordinality as asked (user_id, id_key, n)
    cross join lateral (
      select ref from workspace_gateway.document
      where user_id = asked.user_id and kind = 'project' and workspace_gateway.key_of(id) = asked.id_key offset 0) d`,
}

/**
 * Divides the steps into runs, in order. Consecutive removals of one type form a run. So do all adding steps between
 * two removals, unless a project changes its reference: the change moves the exports that were imported before it, and
 * none of those after it. The caller has locked the existing users.
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

/** All put steps of the projects that have more than one reference, counting those in the list and the stored one. */
async function changesOfReferences(
  connection: Connection,
  changes: readonly Change[],
  userIds: ReadonlyMap<string, number>,
): Promise<ReadonlySet<Change>> {
  const projects = changes.filter(isProject)
  const refs = new Map<string, Set<string | null>>(projects.map((project) => [nameOf(project), new Set()]))
  for (const project of projects) refs.get(nameOf(project))?.add(project.ref)
  // A stored reference matters only to exports: without exports in the list it is not looked up.
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
