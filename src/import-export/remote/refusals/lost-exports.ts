// Refuses to remove exports when the other server has none at all: it may have lost them, or only the route.
import type { Store } from '../../../store/contract.ts'
import type { FoundProject } from '../read-changes.ts'
import { exportPath, type SeenWorkspace } from '../seen-workspace.ts'
import { LossError } from './loss.ts'

/** Must be called before a replacement. `gone` are projects without an export there. Throws a `LossError` of `exports`. */
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
  throw new LossError('exports', 'GET /exports answered 404 for every project, but exports of them are stored here')
}
