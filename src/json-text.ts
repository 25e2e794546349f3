// Finds the parts of a JSON text by their offsets, so that callers can cut them out exactly as written, without parsing
// them. Every function expects a text that JSON.parse accepts. For any other text the result is unspecified or a
// SyntaxError is thrown, but every function terminates. None of them recurses, because nesting may be deeper than the
// stack.

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Half-open range: `text.slice(start, end)` is the value, without the white space around it. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Member extends Span {
  readonly name: string
}

/**
 * JSON.parse without a bug of V8 13.6 (Node 24): V8 mistakes a member name with an escape for a name that it read
 * earlier, in any text, if the earlier name has a backslash at the position of the escape (`"r\\u"`, and then
 * `"r\u0065f"`).
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return hasEscapedName(text) ? JSON.parse(unescapedAscii(text)) : value
}

function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\u00'); at !== -1; ) {
    // `at - 1` lies within the string; skipString finds the end of the string from any offset within it.
    const end = skipString(text, at - 1)
    if (text.charCodeAt(skipSpace(text, end)) === COLON) return true
    at = text.indexOf('\\u00', end)
  }
  return false
}

/** The same text with the `\u00xx` escapes of printable ASCII characters replaced, except those of `"` and `\`. */
function unescapedAscii(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf('\\u00'); at !== -1; at = text.indexOf('\\u00', at + 1)) {
    const code = Number.parseInt(text.slice(at + 4, at + 6), 16)
    const isNeeded = code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH
    if (isNeeded || backslashesBefore(text, at) % 2 === 1) continue
    parts.push(text.slice(from, at), String.fromCharCode(code))
    from = at + 6
  }
  return parts.join('') + text.slice(from)
}

function backslashesBefore(text: string, at: number): number {
  let count = 0
  while (text.charCodeAt(at - 1 - count) === BACKSLASH) count += 1
  return count
}

/** The members of an object in the order written, duplicates included; empty for any other value. */
export function membersOf(text: string): readonly Member[] {
  const members: Member[] = []
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_BRACE) return members
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) !== CLOSE_BRACE) {
    const nameEnd = skipString(text, at)
    const name = nameOf(text, at, nameEnd)
    const start = skipSpace(text, skipColon(text, nameEnd))
    const end = skipValue(text, start)
    members.push({ name, start, end })
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return members
}

/**
 * The text of an object's member; null if it has none. If the name occurs twice, the last one counts, as in JSON.parse.
 */
export function memberText(text: string, name: string): string | null {
  const member = membersOf(text).findLast((candidate) => candidate.name === name)
  return member ? text.slice(member.start, member.end) : null
}

/** The texts of an array's elements, in order; null for any other value. */
export function elementTexts(text: string): readonly string[] | null {
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_BRACKET) return null
  const elements: string[] = []
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = skipValue(text, at)
    elements.push(text.slice(at, end))
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return elements
}

/** Whether a JSON text is an array that contains only strings. */
export function isStringList(text: string): boolean {
  return skipStrings(text, firstElementOf(text), text.length) !== -1
}

/** The same for a long text: reads about `pieceLength` UTF-16 units, then yields. */
export function* isStringListInPieces(text: string, pieceLength: number): Generator<void, boolean> {
  let at = firstElementOf(text)
  while (at !== -1 && text.charCodeAt(at) !== CLOSE_BRACKET) {
    at = skipStrings(text, at, at + pieceLength)
    yield
  }
  return at !== -1
}

/** Offset of the first element of an array, or of its end; -1 for any other value. */
function firstElementOf(text: string): number {
  const at = skipSpace(text, 0)
  return text.charCodeAt(at) === OPEN_BRACKET ? skipSpace(text, at + 1) : -1
}

/**
 * `at` is an element of an array, or its end. Skips elements up to the end of the array or, if that comes first, to the
 * first one at or after `until`. Returns its offset; -1 if one before it is not a string.
 */
function skipStrings(text: string, at: number, until: number): number {
  if (at === -1) return -1
  let next = at
  while (next < until && text.charCodeAt(next) !== CLOSE_BRACKET) {
    if (text.charCodeAt(next) !== QUOTE) return -1
    next = skipSpace(text, skipString(text, next))
    if (text.charCodeAt(next) === COMMA) next = skipSpace(text, next + 1)
  }
  return next
}

/** The value of the JSON string that is written from `start` to `end`, quotes included. */
export function nameOf(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end - 1)
  return name.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : name
}

/** Offset of the first character at or after `at` that is not white space. */
export function skipSpace(text: string, at: number): number {
  for (;;) {
    const code = text.charCodeAt(at)
    // RFC 8259 section 2: space, tab, line feed, carriage return. NaN past the end is none of them.
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at += 1
  }
}

/** `at` is the end of a member's name. Returns the offset just past the colon. */
export function skipColon(text: string, at: number): number {
  const colon = skipSpace(text, at)
  if (text.charCodeAt(colon) !== COLON) throw notJson()
  return colon + 1
}

/** `at` is the opening quote of a string. Returns the offset just past the closing quote. */
export function skipString(text: string, at: number): number {
  for (let close = text.indexOf('"', at + 1); ; close = text.indexOf('"', close + 1)) {
    if (close === -1) throw notJson()
    if (backslashesBefore(text, close) % 2 === 0) return close + 1
  }
}

/** `at` is the first character of a value. Returns the offset just past its last character. */
export function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return skipString(text, at)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(text, at)
  const position = { at: at + 1, depth: 1 }
  skipNested(text, position, text.length)
  if (position.depth > 0) throw notJson()
  return position.at
}

/** A position in an array or object: `depth` counts the arrays and objects that are open there, 0 at its end. */
export interface Position {
  at: number
  depth: number
}

/** Whether the text has more than `max` values: each array, object, name, string, number, true, false and null is one. */
export function hasMoreValues(text: string, max: number): boolean {
  // Each is followed by a character of its own: a comma, a colon, a bracket, or the end of the text.
  if (text.length < 2 * max) return false
  let values = 1
  for (let at = 0; at < text.length && values <= max; ) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = skipString(text, at)
      continue
    }
    at += 1
    if (code === COMMA || code === COLON) values += 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const next = text.charCodeAt(skipSpace(text, at))
      if (next !== CLOSE_BRACE && next !== CLOSE_BRACKET) values += 1
    }
  }
  return values > max
}

/** Moves on to the end of the array or object or, if that comes first, to an offset at or after `until`. */
export function skipNested(text: string, position: Position, until: number): void {
  let { at, depth } = position
  while (at < until) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = skipString(text, at)
      continue
    }
    at += 1
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1
      if (depth === 0) break
    }
  }
  position.at = at
  position.depth = depth
}

/** Skips a number, true, false or null: stops at the first character that cannot be part of one. */
function skipScalar(text: string, start: number): number {
  for (let at = start; ; at += 1) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 0x20 || Number.isNaN(code)) {
      // An empty value would not advance the offset, and a caller that reads value after value would loop for ever.
      if (at === start) throw notJson()
      return at
    }
  }
}

export function notJson(): SyntaxError {
  return new SyntaxError('The text is not JSON.')
}
