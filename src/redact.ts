// Text that people may read: without tokens and email addresses, and in a line.

/** A message repeats no more than this of what a client sent, in UTF-16 units. */
const MAX_MESSAGE_LENGTH = 512

/** What our own messages show in the place of a URL's password, and the word that it makes with what is behind it. */
const PLACEHOLDER = 'PASSWORD@HOST'

const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/wg[rs]_[A-Za-z0-9_-]*/g, '[token]'],
  // A JWT: its header always begins with {"
  [/eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*/g, '[token]'],
  // A URL's password.
  [/(\/\/[^\s/:@]*):(?!PASSWORD@HOST\b)[^\s/@]*@/g, '$1:[password]@'],
]

/** A word, and the word after its `@`. Matches every word, so the search never goes back: a pattern of addresses only would. */
const WORDS = /[^\s"'`<>(),;:@]+(@[^\s"'`<>(),;:@]+)?/g

/** The time is linear in the length of the text. */
export function redact(text: string): string {
  const redacted = SECRETS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
  if (!redacted.includes('@')) return redacted
  return redacted.replace(WORDS, (word, domain?: string) =>
    domain === undefined || word === PLACEHOLDER ? word : '[email]',
  )
}

/** On a terminal, what somebody else wrote, such as an answer, moves no cursor and begins no line of its own. */
export function toLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
}

/** The beginning of a text, in whole words: half a secret would not be recognised as one. To be taken before `redact`. */
export function excerpt(text: string, maxLength = MAX_MESSAGE_LENGTH): string {
  if (text.length <= maxLength) return text
  const shown = text.slice(0, maxLength)
  return `${shown.slice(0, shown.lastIndexOf(' ') + 1)}…`
}
