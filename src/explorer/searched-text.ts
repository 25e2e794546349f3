// The form in which names and paths are searched. One letter may be stored as two characters, as macOS does in the names
// of files, and is typed as one.

export function searchedText(text: string): string {
  return text.normalize().toLowerCase()
}
