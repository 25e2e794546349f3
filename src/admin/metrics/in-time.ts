// Answers of the database for a scrape: one that does not come in time is away.

const PATIENCE_MS = 2_000

/** Null where it fails, or takes longer than a scrape should wait. */
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
