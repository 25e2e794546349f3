// The text of a response under construction: one string if it is short, otherwise a list of pieces in order.
import { endOfPart } from '../../resolvers/documents/end-of-part.ts'
import type { JsonText, StreamedJson } from '../../resolvers/documents/raw-json.ts'

/** JSON text as a string, as UTF-8 bytes or as a stream of them, or a list of such pieces in order. */
export type Text = JsonText | readonly Text[]

/**
 * UTF-16 units up to which texts are joined. A longer text stays in pieces, because joining would copy it in one turn.
 */
const MAX_JOINED = 65_536
/** Maximum number of pieces that are joined to one part in one turn: less than a millisecond of work. */
const MAX_PIECES = 4_096
/** Maximum number of bytes of a piece that is joined. A longer one may be shared by many answers that are on their way. */
const MAX_COPIED = 16_384

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
 * Yields the text in UTF-8, in order, in parts of about `maxLength`: long strings are cut, short pieces are joined, and
 * long bytes are one part. It awaits `yieldTurn` before each part, except for streams, which yield turns themselves.
 */
export async function* encodeText(
  text: Text,
  maxLength: number,
  yieldTurn: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  for (const part of partsOf(text, maxLength)) {
    if (part instanceof Uint8Array) {
      await yieldTurn()
      yield part
    } else {
      yield* part.chunks()
    }
  }
}

/**
 * Yields the pieces in order, and joins short ones that follow each other, up to `maxLength` bytes: an answer may have
 * thousands of a few bytes, and each part costs a turn and a write.
 */
function* partsOf(text: Text, maxLength: number): Generator<Uint8Array | StreamedJson> {
  let pieces: Uint8Array[] = []
  let byteLength = 0
  for (const piece of piecesOf(text, maxLength)) {
    const isShort = piece instanceof Uint8Array && piece.byteLength <= MAX_COPIED
    const isFull = byteLength + piece.byteLength > maxLength || pieces.length === MAX_PIECES
    if (pieces.length > 0 && (isFull || !isShort)) {
      yield joined(pieces, byteLength)
      pieces = []
      byteLength = 0
    }
    if (isShort) {
      pieces.push(piece)
      byteLength += piece.byteLength
    } else {
      yield piece
    }
  }
  if (pieces.length > 0) yield joined(pieces, byteLength)
}

function joined(pieces: readonly Uint8Array[], byteLength: number): Uint8Array {
  const [first] = pieces
  return pieces.length === 1 && first ? first : Buffer.concat(pieces, byteLength)
}

/** The pieces in order. Strings are cut into pieces of `maxLength` UTF-16 units, and encoded when it is their turn. */
function* piecesOf(text: Text, maxLength: number): Generator<Uint8Array | StreamedJson> {
  if (typeof text === 'string') {
    for (let at = 0; at < text.length; ) {
      const end = endOfPart(text, at, maxLength)
      yield Buffer.from(text.slice(at, end))
      at = end
    }
  } else if (isPieces(text)) {
    for (const piece of text) yield* piecesOf(piece, maxLength)
  } else {
    yield text
  }
}

function isPieces(text: Exclude<Text, string>): text is readonly Text[] {
  return Array.isArray(text)
}
