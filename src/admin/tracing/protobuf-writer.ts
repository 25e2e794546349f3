// Protobuf's wire format, written from the end to the beginning: a message has its length in front of it, which is known when
// the rest is there. https://protobuf.dev/programming-guides/encoding

/** What was written stands from `start` to the end of `bytes`; whoever writes sees to it that there is room in front. */
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
  out.bytes.writeUInt32LE(low % TWO_32, out.start)
  out.bytes.writeUInt32LE(Math.floor(microseconds / TWO_32) * 1_000 + Math.floor(low / TWO_32), out.start + 4)
  putTag(out, number, FIXED64)
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

/** Of ASCII. */
export function putText(out: Written, number: number, text: string): void {
  const end = out.start
  out.start -= text.length
  out.bytes.write(text, out.start, 'latin1')
  endMessage(out, number, end)
}

/** The bytes that the digits stand for. */
export function putHex(out: Written, number: number, digits: string): void {
  const end = out.start
  out.start -= digits.length / 2
  out.bytes.write(digits, out.start, 'hex')
  endMessage(out, number, end)
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
