// Three digits behind a point, from a table: writing a fraction as a number costs more than all else of a line.

const DIGITS: readonly string[] = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, '0'))

/** Of 0 to 999. */
export function threeDigits(value: number): string {
  return DIGITS[value] ?? '999'
}
