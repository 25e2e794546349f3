// Compares a response's text with the expected result: names in order, stored text byte for byte, and everything else
// by its value, because a string or a list of strings may be written as in the document, with its escapes and spaces.
import { isDeepStrictEqual } from 'node:util'
import { RawText } from './model-resolvers.ts'

export interface ResponseError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly extensions?: { readonly code?: string }
}

export interface ResponseText {
  /** Where `data` begins; null when there is none. */
  readonly dataAt: number | null
  readonly errors: readonly ResponseError[]
}

/** Throws unless the text is one object of `data`, `errors` and `extensions`, each at most once. */
export function readResponse(text: string): ResponseText {
  const starts = new Map<string, number>()
  let at = expectText('{', text, 0, '')
  while (text[at] !== '}') {
    if (starts.size > 0) at = expectText(',', text, at, '')
    const nameEnd = endOfString(text, at)
    const name: unknown = JSON.parse(text.slice(at, nameEnd))
    if (typeof name !== 'string' || starts.has(name)) throw new Error(`a member twice: ${name}`)
    at = expectText(':', text, nameEnd, '')
    starts.set(name, at)
    at = endOfValue(text, at)
  }
  if (at !== text.length - 1) throw new Error('something follows the response')
  for (const name of starts.keys()) {
    if (!['data', 'errors', 'extensions'].includes(name)) throw new Error(`the response has a member ${name}`)
  }
  const errorsAt = starts.get('errors')
  const errors = errorsAt === undefined ? [] : JSON.parse(text.slice(errorsAt, endOfValue(text, errorsAt)))
  return { dataAt: starts.get('data') ?? null, errors }
}

/** Throws if the value that begins here is not the expected one. */
export function requireSameData(expected: unknown, text: string, at: number): void {
  match(expected, text, at, 'data')
}

/** Returns the position after the value. */
function match(expected: unknown, text: string, at: number, place: string): number {
  if (expected instanceof RawText) return expectText(expected.text, text, at, place)
  if (Array.isArray(expected) && expected.every((item) => typeof item === 'string')) {
    const end = endOfValue(text, at)
    const actual: unknown = JSON.parse(text.slice(at, end))
    if (!isDeepStrictEqual(actual, expected)) throw difference(place, JSON.stringify(expected), text, at)
    return end
  }
  if (typeof expected === 'string') {
    const end = endOfString(text, at)
    const actual: unknown = JSON.parse(text.slice(at, end))
    if (actual !== expected) throw difference(place, JSON.stringify(expected), text, at)
    return end
  }
  if (Array.isArray(expected)) {
    let next = expectText('[', text, at, place)
    for (const [index, item] of expected.entries()) {
      if (index > 0) next = expectText(',', text, next, place)
      next = match(item, text, next, `${place}.${index}`)
    }
    return expectText(']', text, next, place)
  }
  if (typeof expected === 'object' && expected !== null) {
    let next = expectText('{', text, at, place)
    for (const [index, [name, member]] of Object.entries(expected).entries()) {
      next = expectText(`${index > 0 ? ',' : ''}"${name}":`, text, next, place)
      next = match(member, text, next, `${place}.${name}`)
    }
    return expectText('}', text, next, place)
  }
  return expectText(JSON.stringify(expected), text, at, place)
}

function expectText(expected: string, text: string, at: number, place: string): number {
  if (!text.startsWith(expected, at)) throw difference(place, expected, text, at)
  return at + expected.length
}

function difference(place: string, expected: string, text: string, at: number): Error {
  return new Error(`at ${place || 'the top'}: expected ${expected.slice(0, 200)}, got ${text.slice(at, at + 200)}`)
}

function endOfString(text: string, at: number): number {
  if (text[at] !== '"') throw new Error(`expected a string, got ${text.slice(at, at + 200)}`)
  let end = at + 1
  while (text[end] !== '"') {
    if (end >= text.length) throw new Error('a string that is not closed')
    end += text[end] === '\\' ? 2 : 1
  }
  return end + 1
}

/** The end of any JSON value; JSON.parse or the comparison finds out whether it is valid. */
function endOfValue(text: string, at: number): number {
  let depth = 0
  let next = at
  do {
    const character = text[next]
    if (character === undefined) throw new Error('the response breaks off')
    if (character === '"') next = endOfString(text, next)
    else {
      if (character === '{' || character === '[') depth += 1
      if (character === '}' || character === ']') depth -= 1
      next += 1
    }
  } while (depth > 0 || (text[next] !== ',' && text[next] !== '}' && text[next] !== ']'))
  return next
}
