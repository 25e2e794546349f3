// Classifies the text of a response and truncates the tokens in it.
import { elementTexts, memberText } from '../../json-text.ts'
import { isJson } from '../text/json-lines.ts'

export interface Reading {
  readonly isJson: boolean
  /** Whether the text is a GraphQL response with errors. */
  readonly hasErrors: boolean
  /** The text with every token truncated; null when it contains no token. */
  readonly shown: string | null
}

export function readAnswer(text: string): Reading {
  const isWhole = isJson(text)
  const shown = withoutTokens(text)
  return {
    isJson: isWhole,
    hasErrors: isWhole && elementTexts(memberText(text, 'errors') ?? 'null') !== null,
    shown: shown === text ? null : shown,
  }
}

/**
 * Matches whatever begins like a token up to its end, so that no text is scanned twice. In JSON a token may directly
 * follow an escape sequence: in `\neyJ…` no word boundary separates the `n` from the token.
 */
const TOKENS = /(?:\b|(?<=\\(?:[bfnrt]|u[\da-f]{4})))(?:eyJ[\w-]*(?:\.[\w-]+){0,2}|wgr_[\w-]*)/g

/** Truncates the tokens in a text that is displayed or shared. */
export function withoutTokens(text: string): string {
  // Fast path: most texts contain no token.
  if (!text.includes('eyJ') && !text.includes('wgr_')) return text
  return text.replace(TOKENS, (found) => {
    if (found.startsWith('wgr_')) return found.length < 24 ? found : `${found.slice(0, 8)}…`
    const [header = '', ...others] = found.split('.')
    return header.length < 11 || others.length < 2 ? found : `${found.slice(0, 11)}…`
  })
}
