// Splits a JSON array from another server into the texts of its elements, and validates the JSON.
import { hasMoreValues, skipSpace, skipValue } from '../../json-text.ts'
import { MAX_VALUES } from '../format/envelope.ts'

const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** An element has more values than a record may have. */
export class ElementSizeError extends Error {
  override readonly name = 'ElementSizeError'
}

/**
 * Throws a `SyntaxError` for a text that is not a JSON array, and `ElementSizeError`. Stops after one element more than
 * `max`. It parses each element alone, because parsed JSON takes many times the memory of its text, and a response may
 * have hundreds of megabytes.
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
      if (hasMoreValues(element, MAX_VALUES)) throw new ElementSizeError()
      JSON.parse(element)
      elements.push(toOneLine(element))
      if (elements.length > max) return elements
      at = skipSpace(text, end)
      if (text.charCodeAt(at) !== COMMA) break
      at = skipSpace(text, at + 1)
    }
  }
  require(text, at, CLOSE_BRACKET)
  if (skipSpace(text, at + 1) < text.length) throw new SyntaxError('There is more text after the array.')
  return elements
}

function require(text: string, at: number, code: number): void {
  if (text.charCodeAt(at) !== code) throw new SyntaxError(`There is no ${String.fromCharCode(code)}.`)
}

/**
 * Replaces line ends between tokens by spaces; JSON strings cannot contain any. In NDJSON a line end ends the record.
 */
function toOneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ')
}
