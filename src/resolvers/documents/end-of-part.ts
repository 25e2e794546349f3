// Where a long text is cut, so that each part is UTF-8 by itself.

/** At `start + maxLength` UTF-16 units at most, or one more: never between the halves of a surrogate pair. */
export function endOfPart(text: string, start: number, maxLength: number): number {
  const end = Math.min(start + maxLength, text.length)
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}
