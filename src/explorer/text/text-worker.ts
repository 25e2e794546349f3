// Beside the page: lays out texts that are too long to lay out in it, and finds the colours of source code.
import type { Language } from './languages.ts'
import { createSheet, type Sheet } from './sheet.ts'

export interface TextRequest {
  readonly text: string
  readonly language: Language
  readonly needsSheet: boolean
}

export type TextReply =
  | { readonly kind: 'sheet'; readonly sheet: Sheet }
  /** Triples in the shown text, in order: from, to, kind. */
  | { readonly kind: 'tokens'; readonly tokens: Uint32Array }

addEventListener('message', ({ data }: MessageEvent<TextRequest>) => {
  const { text, language, needsSheet } = data
  // What this throws is an error of the worker, which the page hears.
  if (needsSheet) reply({ kind: 'sheet', sheet: createSheet(text, language === 'json') })
  void colour(data)
})

async function colour({ text, language }: TextRequest): Promise<void> {
  if (language === 'json' || language === 'text') return
  const { highlight } = await import('./highlight.ts')
  reply({ kind: 'tokens', tokens: await highlight(text, language) })
}

function reply(message: TextReply): void {
  postMessage(message)
}
