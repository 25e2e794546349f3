// Which row of a list stands first, as the address has it: counted from 1, and left out for the first of all.

/** `scrollTop` and `height` of a row in pixels. */
export function rowIn(scrollTop: number, height: number): string | null {
  const row = Math.floor(scrollTop / height)
  return row <= 0 ? null : String(row + 1)
}

/** How far a list is scrolled when this row stands first. */
export function offsetOf(row: string | null, height: number): number {
  const number = /^\d{1,7}$/.test(row ?? '') ? Number(row) : 1
  return Math.max(0, number - 1) * height
}
