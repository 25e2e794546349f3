// The name that an item is shown under, in titles and links.

/** White space, control characters, and what no font draws. */
const UNSEEN = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

/** The key where there is no name to see. */
export function shownName(name: string | null, key: string): string {
  return name === null || name.replace(UNSEEN, '') === '' ? key : name
}
