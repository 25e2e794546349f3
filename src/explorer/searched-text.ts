// The form in which names and paths are searched. One letter may be stored as two characters, as macOS does in the names
// of files, and is typed as one.

export function searchedText(text: string): string {
  return text.normalize().toLowerCase()
}

/**
 * Puts the items first of which one text is exactly what is searched. Where only some matches are shown, more typing
 * would not bring them up.
 */
export function exactFirst<T>(items: readonly T[], searched: string, textsOf: (item: T) => readonly string[]): T[] {
  const wanted = searchedText(searched).trim()
  const isExact = (item: T) => textsOf(item).some((text) => searchedText(text).trim() === wanted)
  return [...items.filter(isExact), ...items.filter((item) => !isExact(item))]
}
