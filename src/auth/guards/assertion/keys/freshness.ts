// Bounds how long cached keys of an issuer are used without a reload. A reload runs in the background, unless the keys
// are so old that a sign-in must wait for it.

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
  let checked = bothClocks()
  let checking: Promise<void> | null = null

  return async () => {
    const now = bothClocks()
    const ageMs = Math.max(now.steady - checked.steady, now.wall - checked.wall)
    if (ageMs <= MAX_AGE_MS) return
    checking ??= reload().finally(() => {
      checked = bothClocks()
      checking = null
    })
    if (ageMs > 2 * MAX_AGE_MS) await checking
  }
}

/** The steady clock stops while the machine is suspended, and the wall clock may be set back. Whichever went further counts. */
function bothClocks(): { readonly steady: number; readonly wall: number } {
  return { steady: performance.now(), wall: Date.now() }
}
