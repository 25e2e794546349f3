// Converts between a scroll offset and the first visible row in the address: counted from 1, and omitted for row 1.

/** `scrollTop` and the row height are in pixels. */
export function rowIn(scrollTop: number, height: number): string | null {
  const row = Math.floor(scrollTop / height)
  return row <= 0 ? null : String(row + 1)
}

/** The scroll offset, in pixels, at which this row is the first visible one. */
export function offsetOf(row: string | null, height: number): number {
  const number = /^\d{1,7}$/.test(row ?? '') ? Number(row) : 1
  return Math.max(0, number - 1) * height
}
