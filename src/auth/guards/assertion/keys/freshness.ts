// How long keys of an issuer are used before it is asked whether they are still its own: no sign-in should wait for that, and none pass for long without.

/** After this the keys are asked for again, behind the next sign-in. After twice as long it waits: they may have been withdrawn long ago. */
const MAX_AGE_MS = 600_000

/** To be called, and waited for, before what was just loaded is used. `reload` fails for nobody: what cannot be asked for stays as it is. */
export function createFreshness(reload: () => Promise<void>): () => Promise<void> {
  let checkedAt = performance.now()
  let checking: Promise<void> | null = null

  return async () => {
    const ageMs = performance.now() - checkedAt
    if (ageMs <= MAX_AGE_MS) return
    checking ??= reload().finally(() => {
      checkedAt = performance.now()
      checking = null
    })
    if (ageMs > 2 * MAX_AGE_MS) await checking
  }
}
