// Protobuf's wire format, written from the end to the beginning: a message has its length in front of it, which is known when
// the rest is there. https://protobuf.dev/programming-guides/encoding

/** A buffer filled from `start` to its end. The caller makes sure that there is room in front. */
export interface Written {
  readonly bytes: Buffer<ArrayBuffer>
  start: number
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const TWO_32 = 4_294_967_296

/** Of a field whose number is below 16. */
function putTag(out: Written, number: number, wireType: number): void {
  out.start -= 1
  out.bytes[out.start] = (number << 3) | wireType
}

/** A whole number from 0 to 2^53. */
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

/** A `fixed64` of nanoseconds, given as whole microseconds: as nanoseconds they are more than a number holds exactly. */
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

/** Written before, with its own tags. */
export function putFields(out: Written, fields: Uint8Array): void {
  out.start -= fields.byteLength
  out.bytes.set(fields, out.start)
}

export function putBytes(out: Written, number: number, bytes: Uint8Array): void {
  const end = out.start
  putFields(out, bytes)
  endMessage(out, number, end)
}

/** Of ASCII, and short: for a long text a call of `Buffer` is faster than this loop. */
export function putText(out: Written, number: number, text: string): void {
  const end = out.start
  const start = end - text.length
  const { bytes } = out
  for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index)
  out.start = start
  endMessage(out, number, end)
}

/** The bytes that the digits, of lower case, stand for. */
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

/** What the code of `0` to `9`, or of `a` to `f`, stands for: letters have the bit of 64, and count from 1. */
function digitOf(code: number): number {
  return (code & 0xf) + (code >> 6) * 9
}

/** All that was written since `start` was `end` is one message, in the field of this number. */
export function endMessage(out: Written, number: number, end: number): void {
  putNumber(out, end - out.start)
  putTag(out, number, LENGTH)
}

/** What `write` puts, in memory of its own; `mostBytes` is more than that takes. */
export function fieldsOf(mostBytes: number, write: (out: Written) => void): Uint8Array {
  const out: Written = { bytes: Buffer.alloc(mostBytes), start: mostBytes }
  write(out)
  return out.bytes.subarray(out.start)
}
