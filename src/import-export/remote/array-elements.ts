// The elements of an array that another server answered: as they are written there, and only where all of it is JSON.
import { skipSpace, skipValue } from '../../json-text.ts'

const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/**
 * Throws a `SyntaxError` for a text that is no JSON array. Reads no further than one element past `max`. Each element is parsed alone:
 * what is parsed takes many times the room of its text, and an answer may be of hundreds of megabytes.
 */
export function arrayElements(text: string, max: number): readonly string[] {
  let at = skipSpace(text, 0)
  require(text, at, OPEN_BRACKET)
  at = skipSpace(text, at + 1)
  const elements: string[] = []
  if (text.charCodeAt(at) !== CLOSE_BRACKET) {
    for (;;) {
      const end = skipValue(text, at)
      const element = text.slice(at, end)
      JSON.parse(element)
      elements.push(toOneLine(element))
      if (elements.length > max) return elements
      at = skipSpace(text, end)
      if (text.charCodeAt(at) !== COMMA) break
      at = skipSpace(text, at + 1)
    }
  }
  require(text, at, CLOSE_BRACKET)
  if (skipSpace(text, at + 1) < text.length) throw new SyntaxError('There is more behind the array.')
  return elements
}

function require(text: string, at: number, code: number): void {
  if (text.charCodeAt(at) !== code) throw new SyntaxError(`There is no ${String.fromCharCode(code)}.`)
}

/** The same JSON without line ends between its tokens; within strings JSON has none. In NDJSON they end a record. */
function toOneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ')
}
