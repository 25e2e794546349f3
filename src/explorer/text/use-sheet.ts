// Lays out and highlights a text: short texts on the main thread; long ones, and all source colouring, in a worker.
import { useEffect, useMemo, useState } from 'react'
import { isLong } from '../beside/beside.ts'
import type { Language } from './languages.ts'
import { createSheet, type Sheet } from './sheet.ts'
import type { TextReply, TextRequest } from './text-worker.ts'

export interface LaidOut {
  /** Null until the text is laid out. */
  readonly sheet: Sheet | null
  readonly tokens: Uint32Array | null
  /** Retries the layout; null unless it has failed. */
  readonly retry: (() => void) | null
}

export function useSheet(text: string, language: Language): LaidOut {
  const isShort = !isLong(text)
  const short = useMemo(() => (isShort ? createSheet(text, language === 'json') : null), [text, language, isShort])
  const [long, setLong] = useState<{ readonly text: string; readonly sheet: Sheet } | null>(null)
  const [coloured, setColoured] = useState<{ readonly text: string; readonly tokens: Uint32Array } | null>(null)
  const [failed, setFailed] = useState<string | null>(null)
  const hasFailed = failed === text

  useEffect(() => {
    if (hasFailed || (isShort && (language === 'json' || language === 'text'))) return
    const worker = new Worker(new URL('./text-worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<TextReply>) => {
      if (data.kind === 'sheet') setLong({ text, sheet: data.sheet })
      else setColoured({ text, tokens: data.tokens })
    }
    worker.onerror = () => setFailed(text)
    worker.postMessage({ text, language, needsSheet: !isShort } satisfies TextRequest)
    return () => worker.terminate()
  }, [text, language, isShort, hasFailed])

  return {
    sheet: short ?? (long?.text === text ? long.sheet : null),
    tokens: coloured?.text === text ? coloured.tokens : null,
    retry: hasFailed ? () => setFailed(null) : null,
  }
}
