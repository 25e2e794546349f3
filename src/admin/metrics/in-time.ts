// Bounds the wait for the database during a scrape: a database that does not answer in time counts as down.

const PATIENCE_MS = 2_000

/** Returns null when `ask` fails, or takes longer than a scrape should wait. */
export async function inTime<T>(ask: () => Promise<T>): Promise<T | null> {
  const gaveUp = Promise.withResolvers<null>()
  const timer = setTimeout(() => gaveUp.resolve(null), PATIENCE_MS)
  try {
    return await Promise.race([ask(), gaveUp.promise])
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}
