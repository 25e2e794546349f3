// Names as people sort them: file2 before file10, upper and lower case together.

const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export function compareNames(a: string, b: string): number {
  return compare(a, b)
}
