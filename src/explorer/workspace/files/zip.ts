// Writes an export as a zip file with safe and unique paths.
import { deflateSync, Zip, ZipPassThrough } from 'fflate'
import { momentOf } from '../../design/moment.ts'
import { bytesOf, type Element } from '../project/elements.ts'
import { foldersOf } from './tree.ts'

/** Compressed formats, which are stored without a second compression. */
const PACKED = /\.(?:png|jpe?g|gif|webp|avif|woff2?|zip|gz|mp4|pdf)$/i
/** The number of the method in zip files (APPNOTE.TXT, section 4.4.5). */
const DEFLATE = 8
/** Maximum bytes of a path segment. File systems allow 255; the rest is for a number that makes a name unique. */
const MOST_BYTES = 240
const MOST_EXTENSION_BYTES = 20
/** The earliest and latest time that a zip can store; zip times are local times. */
const [EARLIEST, LATEST] = [new Date(1980, 0, 1).getTime(), new Date(2099, 11, 31).getTime()]

/**
 * A file that is pushed as one chunk. `ZipDeflate` expects more of them and therefore allocates 800 kB for each file,
 * however small it is: browsers took minutes for 20,000 files.
 */
class DeflatedFile extends ZipPassThrough {
  override compression = DEFLATE

  protected override process(content: Uint8Array, isFinal: boolean): void {
    this.ondata(null, deflateSync(content), isFinal)
  }
}

/**
 * Returns the chunks of the zip file. Paths stay inside the folder into which they are unpacked, and no two files share
 * a path. `onProgress` receives values from 0 to 1.
 */
export function zipOf(
  elements: readonly Element[],
  createdAt: string,
  onProgress: (done: number) => void,
): readonly Uint8Array<ArrayBuffer>[] {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    chunks.push(new Uint8Array(chunk))
  })
  const mtime = zipTime(createdAt)
  const paths = elements.map(({ isFile, path }) => safePath(isFile ? path : `${path}.json`))
  // A file with the name of a folder would conflict with the files in the folder.
  const taken = new Set(paths.flatMap((path) => foldersOf(path.toLowerCase()).map((folder) => folder.slice(0, -1))))
  const nextNumbers = new Map<string, number>()
  for (const [index, element] of elements.entries()) {
    const name = freeName(paths[index] ?? '', taken, nextNumbers)
    const file = PACKED.test(name) ? new ZipPassThrough(name) : new DeflatedFile(name)
    file.mtime = mtime
    zip.add(file)
    file.push(bytesOf(element), true)
    if (index % 100 === 0) onProgress(index / elements.length)
  }
  zip.end()
  return chunks
}

/**
 * Converts a date to milliseconds since the epoch, clamped to the years 1980 to 2099, which a zip can store. An invalid
 * date becomes the earliest.
 */
function zipTime(date: string): number {
  return Math.min(Math.max(momentOf(date) || 0, EARLIEST), LATEST)
}

/** Matches control characters, bidirectional controls, and characters that Windows forbids in names. */
function isUnsafe(character: string): boolean {
  const code = character.charCodeAt(0)
  return (
    code < 0x20 ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    '<>:"|?*'.includes(character)
  )
}

export function safePath(path: string): string {
  const parts = path
    .split(/[/\\]/)
    .map((part) =>
      [...part]
        .map((character) => (isUnsafe(character) ? '_' : character))
        .join('')
        .trim(),
    )
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map(shortened)
  return parts.join('/') || 'file'
}

/** Truncates a path segment to MOST_BYTES at a character boundary, and keeps a plausible extension. */
function shortened(part: string): string {
  if (byteLength(part) <= MOST_BYTES) return part
  const [stem, extension] = stemAndExtension(part)
  if (byteLength(extension) > MOST_EXTENSION_BYTES) return firstBytes(part, MOST_BYTES)
  return firstBytes(stem, MOST_BYTES - byteLength(extension)) + extension
}

function firstBytes(text: string, count: number): string {
  const whole = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, count), { stream: true })
  return whole.trim()
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

function stemAndExtension(path: string): readonly [string, string] {
  const match = /^(.*?)(\.[^./]*)?$/s.exec(path)
  return [match?.[1] ?? path, match?.[2] ?? '']
}

/**
 * `nextNumbers` holds the first number that may be free for each path, so that the time does not grow with the square of
 * the number of elements that share a path.
 */
function freeName(path: string, taken: Set<string>, nextNumbers: Map<string, number>): string {
  const [stem, extension] = stemAndExtension(path)
  const key = path.toLowerCase()
  let number = nextNumbers.get(key) ?? 2
  let name = path
  for (; taken.has(name.toLowerCase()); number += 1) name = `${stem} (${number})${extension}`
  taken.add(name.toLowerCase())
  nextNumbers.set(key, number)
  return name
}
