// Finds where to cut a long text, so that each part can be encoded as UTF-8 on its own.

/**
 * The end of the part: at most `start + maxLength`, or one more so as not to split a surrogate pair. In UTF-16 units.
 */
export function endOfPart(text: string, start: number, maxLength: number): number {
  const end = Math.min(start + maxLength, text.length)
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}
