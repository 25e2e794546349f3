// The text of a response under construction: one string if it is short, otherwise a list of pieces in order.
import { endOfPart } from '../../resolvers/documents/end-of-part.ts'
import type { JsonText } from '../../resolvers/documents/raw-json.ts'

/** JSON text as a string, as UTF-8 bytes or as a stream of them, or a list of such pieces in order. */
export type Text = JsonText | readonly Text[]

/**
 * UTF-16 units up to which texts are joined. A longer text stays in pieces, because joining would copy it in one turn.
 */
const MAX_JOINED = 65_536

/** Collects pieces. It encodes long strings right away: bytes take the least memory and keep no other string alive. */
export interface TextBuilder {
  readonly add: (text: Text) => void
  readonly build: () => Text
}

export function createTextBuilder(): TextBuilder {
  let current = ''
  let pieces: Text[] | null = null

  function close(): void {
    if (current === '') return
    pieces ??= []
    pieces.push(Buffer.from(current))
    current = ''
  }

  return {
    add(text) {
      if (typeof text === 'string') {
        current += text
        if (current.length > MAX_JOINED) close()
        return
      }
      close()
      pieces ??= []
      pieces.push(text)
    },
    build() {
      if (!pieces) return current
      close()
      return pieces
    },
  }
}

/** The length of a text: UTF-16 units of strings plus bytes of the rest. Close enough to its memory to bound that. */
export function lengthOf(text: Text): number {
  if (typeof text === 'string') return text.length
  if (isPieces(text)) return text.reduce((sum, piece) => sum + lengthOf(piece), 0)
  return text.byteLength
}

/** The whole text in UTF-8; null if a piece of it is a stream. */
export function encodeWhole(text: Text): Uint8Array | null {
  if (typeof text === 'string') return Buffer.from(text)
  if (text instanceof Uint8Array) return text
  if (!isPieces(text)) return null
  const parts: Uint8Array[] = []
  for (const piece of text) {
    const part = encodeWhole(piece)
    if (part === null) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/**
 * Yields the text in UTF-8, in order. Strings are cut into parts of `maxLength` UTF-16 units; pieces that are bytes
 * already are yielded whole. It awaits `yieldTurn` before each part, except for streams, which yield turns themselves.
 */
export async function* encodeText(
  text: Text,
  maxLength: number,
  yieldTurn: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  if (typeof text === 'string') {
    for (let at = 0; at < text.length; ) {
      await yieldTurn()
      const end = endOfPart(text, at, maxLength)
      yield Buffer.from(text.slice(at, end))
      at = end
    }
  } else if (isPieces(text)) {
    for (const piece of text) yield* encodeText(piece, maxLength, yieldTurn)
  } else if (text instanceof Uint8Array) {
    await yieldTurn()
    yield text
  } else {
    yield* text.chunks()
  }
}

function isPieces(text: Exclude<Text, string>): text is readonly Text[] {
  return Array.isArray(text)
}
