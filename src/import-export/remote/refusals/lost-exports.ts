// Refuses to remove exports when the other server has none at all: it may have lost them, or only the route.
import type { Store } from '../../../store/contract.ts'
import { ContractError } from '../client.ts'
import type { FoundProject } from '../read-changes.ts'
import { exportPath, type SeenWorkspace } from '../seen-workspace.ts'

/**
 * The user's projects exist there without any export, and exports of them are stored here. Either the exports are gone,
 * or only the route is.
 */
export class LostExportsError extends ContractError {}

/** Must be called before a replacement. `gone` are projects without an export there. Throws `LostExportsError`. */
export async function requireSomeExport(
  store: Store,
  email: string,
  gone: readonly FoundProject[],
  { refs, answers }: SeenWorkspace,
): Promise<void> {
  if (gone.length === 0 || refs.some((ref) => answers.get(exportPath(ref))?.digest != null)) return
  const user = await store.userByEmail(email)
  if (!user) return
  const asked = gone.flatMap(({ refHere }) => (refHere === null ? [] : { userId: user.id, ref: refHere }))
  const newest = asked.length > 0 ? await store.latestExports(asked) : []
  if (newest.every((found) => found == null)) return
  throw new LostExportsError('GET /exports answered 404 for every project, but exports of them are stored here')
}
