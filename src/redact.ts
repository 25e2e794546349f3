// Makes text safe to show to people: without tokens, passwords, email addresses and control characters, or as HTML.

/** Maximum length of client input that a message repeats, in UTF-16 units. */
const MAX_MESSAGE_LENGTH = 512

/**
 * The placeholder that our own messages show for the password and host of a URL. It is not a secret and stays readable.
 */
const PLACEHOLDER = 'PASSWORD@HOST'

const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/wg[rs]_[A-Za-z0-9_-]*/g, '[token]'],
  // A JWT: its header always begins with {" which is eyJ in base64url.
  [/eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*/g, '[token]'],
  // The password in a URL.
  [/(\/\/[^\s/:@]*):(?!PASSWORD@HOST\b)[^\s/@]*@/g, '$1:[password]@'],
]

/**
 * A word, and the word after its `@`. It matches every word, so it never backtracks; a pattern for addresses alone
 * would.
 */
const WORDS = /[^\s"'`<>(),;:@]+(@[^\s"'`<>(),;:@]+)?/g

/** Replaces tokens, URL passwords and email addresses by placeholders. Takes time linear in the length of the text. */
export function redact(text: string): string {
  const redacted = SECRETS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
  if (!redacted.includes('@')) return redacted
  return redacted.replace(WORDS, (word, domain?: string) =>
    domain === undefined || word === PLACEHOLDER ? word : '[email]',
  )
}

/**
 * Replaces control and format characters, so that foreign text on a terminal cannot move the cursor or start a new
 * line.
 */
export function toLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
}

/** Valid in the text of an HTML element, and in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/**
 * The beginning of a text, cut at a word boundary, because `redact` would not recognise half a secret. Call it before
 * `redact`.
 */
export function excerpt(text: string, maxLength = MAX_MESSAGE_LENGTH): string {
  if (text.length <= maxLength) return text
  const shown = text.slice(0, maxLength)
  return `${shown.slice(0, shown.lastIndexOf(' ') + 1)}…`
}
