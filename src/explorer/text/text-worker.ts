// The Web Worker that lays out texts too long for the main thread and highlights source code.
import type { Language } from './languages.ts'
import { createSheet, type Sheet } from './sheet.ts'

export interface TextRequest {
  readonly text: string
  readonly language: Language
  readonly needsSheet: boolean
}

export type TextReply =
  | { readonly kind: 'sheet'; readonly sheet: Sheet }
  /** Triples of from, to and kind, in the order of the displayed text. */
  | { readonly kind: 'tokens'; readonly tokens: Uint32Array }

addEventListener('message', ({ data }: MessageEvent<TextRequest>) => {
  const { text, language, needsSheet } = data
  // An exception here raises an error event of the worker, to which the page listens.
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
