// Strips the white space that HTTP allows around the parts of a header (OWS, RFC 9110 section 5.6.3).

const SPACE = 0x20
const TAB = 0x09

/**
 * Strips spaces and tabs from both ends. Any other white space belongs to the value; `String.trim` would remove it too.
 */
export function withoutOptionalWhiteSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isOptional(text.charCodeAt(start))) start += 1
  while (end > start && isOptional(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isOptional(character: number): boolean {
  return character === SPACE || character === TAB
}
