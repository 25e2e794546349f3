// What the text of an answer is, and what of it may be shown.
import { elementTexts, memberText } from '../../json-text.ts'
import { isJson } from '../text/json-lines.ts'

export interface Reading {
  readonly isJson: boolean
  /** Whether it is a GraphQL answer with errors. */
  readonly hasErrors: boolean
  /** The text with its tokens cut short; null where it holds none. */
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

/** Whatever begins like a token, to its end, so that no text is looked at twice. In JSON a token may stand behind the `n` of a line end. */
const TOKENS = /(?:\b|(?<=\\(?:[bfnrt]|u[\da-f]{4})))(?:eyJ[\w-]*(?:\.[\w-]+){0,2}|wgr_[\w-]*)/g

/** Tokens cut short, for what is shown or shared. */
export function withoutTokens(text: string): string {
  // Few texts hold any.
  if (!text.includes('eyJ') && !text.includes('wgr_')) return text
  return text.replace(TOKENS, (found) => {
    if (found.startsWith('wgr_')) return found.length < 24 ? found : `${found.slice(0, 8)}…`
    const [header = '', ...others] = found.split('.')
    return header.length < 11 || others.length < 2 ? found : `${found.slice(0, 11)}…`
  })
}
