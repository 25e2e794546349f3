// Writes a log line as ASCII straight into the output buffer. Built as a string first, a line would allocate a dozen
// objects, and collecting them costs as much again.

const ZERO = 0x30
const POINT = 0x2e

/** Longer than any line. */
export const MAX_LINE_BYTES = 1_024

/** Up to this length a loop over the string is faster than a call of `Buffer`. */
const MAX_SHORT = 24

/** A buffer filled up to `at`. The caller makes sure that there is room after it. */
export interface LineBytes {
  readonly bytes: Buffer
  at: number
}

/** Appends bytes that were formatted earlier. */
export function putBytes(out: LineBytes, bytes: Uint8Array): void {
  out.bytes.set(bytes, out.at)
  out.at += bytes.byteLength
}

/** Appends an ASCII string. */
export function putText(out: LineBytes, text: string): void {
  const { bytes, at } = out
  if (text.length > MAX_SHORT) bytes.write(text, at, 'latin1')
  else for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index)
  out.at = at + text.length
}

/** Appends a whole number from 0 to 2^53. */
export function putWhole(out: LineBytes, value: number): void {
  let digits = 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits += 1
  let rest = value
  for (let at = out.at + digits - 1; at >= out.at; at -= 1) {
    out.bytes[at] = ZERO + (rest % 10)
    rest = Math.floor(rest / 10)
  }
  out.at += digits
}

/** Appends a number from 0 on, truncated to three decimals. */
export function putThousandths(out: LineBytes, value: number): void {
  const whole = Math.floor(value)
  const thousandths = Math.floor((value - whole) * 1_000)
  putWhole(out, whole)
  const { bytes, at } = out
  bytes[at] = POINT
  putThreeDigits(bytes, at + 1, thousandths)
  out.at = at + 4
}

/** Writes a whole number below 1,000 with leading zeros. */
export function putThreeDigits(bytes: Buffer, at: number, value: number): void {
  bytes[at] = ZERO + Math.floor(value / 100)
  bytes[at + 1] = ZERO + (Math.floor(value / 10) % 10)
  bytes[at + 2] = ZERO + (value % 10)
}
