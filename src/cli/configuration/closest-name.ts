// Suggests the known name that is closest to an unknown one.

/**
 * Null when no known name is near. Near means at most one edit for every three letters of `name`, and at least one: a
 * wrong, missing, extra or swapped letter.
 */
function closestName(name: string, known: Iterable<string>): string | null {
  let [closest, fewest]: [string | null, number] = [null, Math.max(1, Math.floor(name.length / 3)) + 1]
  for (const candidate of known) {
    const edits = editsBetween(name, candidate, fewest)
    if (edits < fewest) [closest, fewest] = [candidate, edits]
  }
  return closest
}

/** The suggestion as the end of a message about `name`, or '' when there is none. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const closest = closestName(name, known)
  return closest === null ? '' : `; did you mean ${closest}?`
}

/** Optimal string alignment distance, or `limit` when the distance is not smaller. */
function editsBetween(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let before: readonly number[] = []
  let above: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          at(above, j) + 1,
          at(row, j - 1) + 1,
          at(above, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          isSwapped ? at(before, j - 2) + 1 : limit,
        ),
      )
    }
    if (Math.min(...row) >= limit) return limit
    before = above
    above = row
  }
  return at(above, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
