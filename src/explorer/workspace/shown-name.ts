// Prepares the names of items and files for display in titles, links and trees.

/** Matches white space, control characters and ignorable code points, which no font draws. */
const UNSEEN = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

/** Returns the key if the name has no visible character. */
export function shownName(name: string | null, key: string): string {
  return visibleName(name === null || isUnseen(name) ? key : name)
}

/** Replaces bidirectional controls, with which `gpj.exe` would look like `exe.jpg`, by U+FFFD. */
export function visibleName(name: string): string {
  const shown = name.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '\ufffd')
  return isUnseen(shown) ? '(no name)' : shown
}

function isUnseen(name: string): boolean {
  return name.replace(UNSEEN, '') === ''
}
