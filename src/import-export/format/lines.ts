// Reads the lines of a file in blocks of bounded size.
import { isUtf8 } from 'node:buffer'
import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { throwMachineError } from '../../errors.ts'

const READ_BYTES = 262_144
/**
 * Maximum length of an imported line. A backup line with the same content must still fit into a string, although it may
 * escape each character and adds names.
 */
export const MAX_LINE_BYTES = 268_400_000
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Byte offsets of a line in the file, including its line end and byte order mark. */
export interface LinePlace {
  readonly startOffset: number
  readonly endOffset: number
}

export interface Line extends LinePlace {
  /** From 1. */
  readonly number: number
  /** Without the line end; null when it is not valid UTF-8 or too long. */
  readonly text: string | null
  /** Why `text` is null. */
  readonly problem: string | null
}

/** Some lines that are not blank, and the file offset up to which they were read. */
export interface LineBlock {
  readonly lines: readonly Line[]
  readonly endOffset: number
  /** CRC-32 of the bytes read since the previous block. Reading the same file again gives the same checksums. */
  readonly checksum: number
}

/** The file has changed since it was read before. */
export class InputChangedError extends Error {
  override readonly name = 'InputChangedError'
}

/**
 * Yields the lines of the file. A line with more than `maxLineBytes` bytes, without its line end, has no text. Throws
 * `MachineError` if the disk fails.
 */
export async function* readLines(file: FileHandle, maxLineBytes = MAX_LINE_BYTES): AsyncGenerator<LineBlock> {
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  let number = 0
  let offset = 0
  let startOffset = 0
  let pending: Buffer[] = []
  let pendingBytes = 0

  function takeLine(tail: Buffer, endOffset: number): Line | null {
    const place = { number: number + 1, startOffset, endOffset }
    number += 1
    startOffset = endOffset
    const isTooLong = pendingBytes + tail.byteLength > maxLineBytes
    const whole = isTooLong || pending.length === 0 ? tail : Buffer.concat([...pending, tail])
    pending = []
    pendingBytes = 0
    return isTooLong ? { ...place, text: null, problem: `longer than ${maxLineBytes} bytes` } : toLine(place, whole)
  }

  for (;;) {
    const bytes = await readFully(file, buffer, offset)
    const checksum = crc32(bytes)
    const blockOffset = offset
    offset += bytes.byteLength
    const lines: Line[] = []
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      const line = takeLine(bytes.subarray(start, end), blockOffset + end + 1)
      if (line) lines.push(line)
      start = end + 1
    }
    if (bytes.byteLength === 0) {
      const last = pendingBytes > 0 ? takeLine(Buffer.alloc(0), offset) : null
      if (last) yield { lines: [last], endOffset: offset, checksum }
      return
    }
    const rest = bytes.subarray(start)
    pendingBytes += rest.byteLength
    if (pendingBytes > maxLineBytes) pending = []
    else if (rest.byteLength > 0) pending.push(Buffer.from(rest))
    yield { lines, endOffset: offset, checksum }
  }
}

/** Fills the buffer; returns less only at the end of the file, however little a single read returns. */
async function readFully(file: FileHandle, buffer: Buffer, offset: number): Promise<Buffer> {
  let byteLength = 0
  while (byteLength < buffer.byteLength) {
    const { bytesRead } = await file
      .read(buffer, byteLength, buffer.byteLength - byteLength, offset + byteLength)
      .catch(throwMachineError('the file cannot be read any further'))
    if (bytesRead === 0) break
    byteLength += bytesRead
  }
  return buffer.subarray(0, byteLength)
}

/** The text of a line that was read successfully before. */
export function readLineAt(file: FileHandle, { startOffset, endOffset }: LinePlace): string {
  const bytes = Buffer.allocUnsafe(endOffset - startOffset)
  const byteLength = readSync(file.fd, bytes, 0, bytes.byteLength, startOffset)
  const end = bytes[byteLength - 1] === LINE_FEED ? byteLength - 1 : byteLength
  return withoutMarks(bytes.subarray(0, end), startOffset).toString()
}

function toLine(place: Omit<Line, 'text' | 'problem'>, whole: Buffer): Line | null {
  const bytes = withoutMarks(whole, place.startOffset)
  if (!isUtf8(bytes)) return { ...place, text: null, problem: 'not valid UTF-8' }
  const text = bytes.toString()
  return text.trim() === '' ? null : { ...place, text, problem: null }
}

function withoutMarks(bytes: Buffer, startOffset: number): Buffer {
  const begin = startOffset === 0 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0
  return bytes.subarray(begin, bytes.at(-1) === CARRIAGE_RETURN ? bytes.byteLength - 1 : bytes.byteLength)
}
