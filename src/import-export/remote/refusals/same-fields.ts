// Refuses to remove exports only because their projects are read with other fields than they were stored with.
import type { Store } from '../../../store/contract.ts'
import type { RecordFields } from '../../format/read-record.ts'
import { ContractError } from '../client.ts'
import { createProjectReader } from '../project-ref.ts'
import type { FoundProject } from '../read-changes.ts'

/**
 * A project with exports is stored here under an id or a reference that these fields do not read from it, and taking it
 * in again would remove the exports. They are not lost there, so this says nothing about the other server, and no time
 * makes it a removal.
 */
export class OtherFieldsError extends ContractError {}

export interface FoundProjects {
  /** JSON texts of all projects there. */
  readonly texts: readonly string[]
  /** Those without an export there. */
  readonly gone: readonly FoundProject[]
}

/** Must be called before a replacement. Throws `OtherFieldsError`. */
export async function requireSameFields(
  email: string,
  { texts, gone }: FoundProjects,
  { store, fields }: { readonly store: Store; readonly fields: RecordFields },
): Promise<void> {
  const user = await store.userByEmail(email)
  if (!user) return
  const { id: userId } = user
  const readProject = createProjectReader(fields)
  const idsThere = new Set(texts.map((text) => readProject(text)?.id))
  const refsLeft = new Set(gone.filter(({ ref, refHere }) => refHere !== ref).map(({ refHere }) => refHere))
  const [stored = []] = await store.documentsOf([{ userId, kind: 'project', after: 0, limit: null }])
  const losing = stored.flatMap(({ id, ref, text }) => {
    const now = readProject(text)
    if (ref === null || (now?.id === id && now.ref === ref)) return []
    // A project with another id counts as another project: the stored one goes, with its exports.
    const isLosing = now && now.id !== id ? idsThere.has(now.id) : refsLeft.has(ref)
    return isLosing ? [{ userId, ref }] : []
  })
  const newest = losing.length > 0 ? await store.latestExports(losing) : []
  if (newest.every((found) => found == null)) return
  throw new OtherFieldsError(
    'exports stored here would go, because the id or reference of their project is read differently',
  )
}
