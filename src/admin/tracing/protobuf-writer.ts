// Writes Protobuf's wire format from the end to the beginning: a message is preceded by its length, which is known only
// after the rest is written. https://protobuf.dev/programming-guides/encoding

/** A buffer filled from `start` to its end. The caller makes sure that there is room in front. */
export interface Written {
  readonly bytes: Buffer<ArrayBuffer>
  start: number
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const TWO_32 = 4_294_967_296

/** Writes the tag of a field whose number is below 16. */
function putTag(out: Written, number: number, wireType: number): void {
  out.start -= 1
  out.bytes[out.start] = (number << 3) | wireType
}

/** Writes a whole number from 0 to 2^53. */
function putNumber(out: Written, value: number): void {
  let length = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length += 1
  out.start -= length
  let rest = value
  for (let at = out.start; ; at += 1) {
    if (rest < 128) {
      out.bytes[at] = rest
      return
    }
    out.bytes[at] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
}

export function putVarint(out: Written, number: number, value: number): void {
  putNumber(out, value)
  putTag(out, number, VARINT)
}

/**
 * Writes a `fixed64` of nanoseconds from whole microseconds: nanoseconds since the epoch exceed what a number holds
 * exactly.
 */
export function putNanos(out: Written, number: number, microseconds: number): void {
  const low = (microseconds % TWO_32) * 1_000
  out.start -= 8
  putUint32(out.bytes, out.start, low % TWO_32)
  putUint32(out.bytes, out.start + 4, Math.floor(microseconds / TWO_32) * 1_000 + Math.floor(low / TWO_32))
  putTag(out, number, FIXED64)
}

function putUint32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

/** Writes fields that were encoded earlier, with their tags. */
export function putFields(out: Written, fields: Uint8Array): void {
  out.start -= fields.byteLength
  out.bytes.set(fields, out.start)
}

export function putBytes(out: Written, number: number, bytes: Uint8Array): void {
  const end = out.start
  putFields(out, bytes)
  endMessage(out, number, end)
}

/** Writes a short ASCII string. For a long one a call of `Buffer` would be faster than this loop. */
export function putText(out: Written, number: number, text: string): void {
  const end = out.start
  const start = end - text.length
  const { bytes } = out
  for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index)
  out.start = start
  endMessage(out, number, end)
}

/** Writes the bytes that lower-case hexadecimal digits stand for. */
export function putHex(out: Written, number: number, digits: string): void {
  const end = out.start
  const start = end - digits.length / 2
  const { bytes } = out
  for (let at = start, index = 0; at < end; at += 1, index += 2) {
    bytes[at] = (digitOf(digits.charCodeAt(index)) << 4) | digitOf(digits.charCodeAt(index + 1))
  }
  out.start = start
  endMessage(out, number, end)
}

/**
 * Decodes the character code of `0` to `9` or `a` to `f`: letters have the bit of value 64, and their low bits count
 * from 1.
 */
function digitOf(code: number): number {
  return (code & 0xf) + (code >> 6) * 9
}

/** Turns everything written since `start` was `end` into one message, in the field with this number. */
export function endMessage(out: Written, number: number, end: number): void {
  putNumber(out, end - out.start)
  putTag(out, number, LENGTH)
}

/** Returns what `write` puts, in its own memory. `mostBytes` must be at least the size of that. */
export function fieldsOf(mostBytes: number, write: (out: Written) => void): Uint8Array {
  const out: Written = { bytes: Buffer.alloc(mostBytes), start: mostBytes }
  write(out)
  return out.bytes.subarray(out.start)
}
