// Rewrites a JSON array of another server with the white space that this gateway would send: none between documents,
// and no line ends within them.

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LAST_OF_ASCII = 0x7f
/** The array is the first level, and its documents begin the second. */
const BETWEEN_DOCUMENTS = 1

/** Where a part of the text ends. */
interface Place {
  readonly depth: number
  readonly isInString: boolean
  readonly isEscaped: boolean
}

/** Does to the text what an import does to it. Text that is not JSON may become other text, even JSON. */
export async function* asServedHere(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let place: Place = { depth: 0, isInString: false, isEscaped: false }
  for await (const part of body) {
    const written = new Uint8Array(part.byteLength)
    const { length, end } = rewrite(part, written, place)
    place = end
    yield written.subarray(0, length)
  }
}

/** Local variables throughout, because this looks at every byte. */
function rewrite(
  part: Uint8Array,
  written: Uint8Array,
  start: Place,
): { readonly length: number; readonly end: Place } {
  let { depth, isInString, isEscaped } = start
  let length = 0
  for (let at = 0; at < part.length; at += 1) {
    const byte = part[at] ?? 0
    let kept = byte
    if (isInString) {
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) isInString = true
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth += 1
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth -= 1
    else if (byte === SPACE || byte === TAB || byte === LINE_FEED || byte === CARRIAGE_RETURN) {
      if (depth <= BETWEEN_DOCUMENTS) continue
      if (byte !== TAB) kept = SPACE
    }
    // A byte order mark.
    else if (depth === 0 && byte > LAST_OF_ASCII) continue
    written[length] = kept
    length += 1
  }
  return { length, end: { depth, isInString, isEscaped } }
}
