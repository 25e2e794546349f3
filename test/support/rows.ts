// Checks many rows in one test: tries every row, then reports all that failed together.
import { expect } from 'vitest'

export async function expectEach<T extends { readonly name: string }>(
  rows: readonly T[],
  check: (row: T) => Promise<void>,
): Promise<void> {
  expect(rows.length).toBeGreaterThan(0)
  const wrong: string[] = []
  for (const row of rows) {
    try {
      await check(row)
    } catch (error) {
      wrong.push(`${row.name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  expect(wrong).toEqual([])
}
