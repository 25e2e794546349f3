// The names of items and files as they are shown, in titles, links and trees.

/** White space, control characters, and what no font draws. */
const UNSEEN = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

/** The key where there is no name to see. */
export function shownName(name: string | null, key: string): string {
  return visibleName(name === null || name.replace(UNSEEN, '') === '' ? key : name)
}

/** Characters that turn the reading direction make `exe.jpg` of `gpj.exe`: they are shown instead. */
export function visibleName(name: string): string {
  return name.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '\ufffd') || '(no name)'
}
