// Bounds how long cached keys of an issuer are used without a reload. A reload runs in the background, unless the keys
// are so old that a sign-in must wait for it.
import { ageMs, now } from '../../../age.ts'

/**
 * After this time the next sign-in starts a reload in the background. After twice this time, sign-ins wait for the
 * reload, because the keys may have been withdrawn long ago.
 */
const MAX_AGE_MS = 600_000

/**
 * Call this when keys were just loaded, and await the returned function before each use of them. `reload` must not
 * reject: if the issuer cannot be reached, it leaves the keys as they are.
 */
export function createFreshness(reload: () => Promise<void>): () => Promise<void> {
  let checked = now(Date.now)
  let checking: Promise<void> | null = null

  return async () => {
    const age = ageMs(checked, Date.now)
    if (age <= MAX_AGE_MS) return
    checking ??= reload().finally(() => {
      checked = now(Date.now)
      checking = null
    })
    if (age > 2 * MAX_AGE_MS) await checking
  }
}
