// Compares names in natural order: file2 before file10, case-insensitive.

const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export function compareNames(a: string, b: string): number {
  return compare(a, b)
}
