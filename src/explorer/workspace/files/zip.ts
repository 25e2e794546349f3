// An export as a zip file that no unpacker can be led astray by.
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'
import { bytesOf, type Element } from '../project/elements.ts'
import { foldersOf } from './tree.ts'

/** What is packed already does not get smaller. */
const PACKED = /\.(?:png|jpe?g|gif|webp|avif|woff2?|zip|gz|mp4|pdf)$/i
/** Of a part of a path. File systems take 255, and a number may come to it that keeps two files apart. */
const MOST_BYTES = 240
const MOST_EXTENSION_BYTES = 20
/** By the clock of this machine, as a zip holds them. */
const [EARLIEST, LATEST] = [new Date(1980, 0, 1).getTime(), new Date(2099, 11, 31).getTime()]

/** Paths stay inside the folder they are unpacked to, and no two files share one. `onProgress` hears from 0 to 1. */
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
  // A file named like a folder would be in the way of the files in it.
  const taken = new Set(paths.flatMap((path) => foldersOf(path.toLowerCase()).map((folder) => folder.slice(0, -1))))
  for (const [index, element] of elements.entries()) {
    const name = freeName(paths[index] ?? '', taken)
    const file = PACKED.test(name) ? new ZipPassThrough(name) : new ZipDeflate(name, { level: 6 })
    file.mtime = mtime
    zip.add(file)
    file.push(bytesOf(element), true)
    if (index % 100 === 0) onProgress(index / elements.length)
  }
  zip.end()
  return chunks
}

/** In milliseconds since the epoch. A zip holds the years 1980 to 2099; what is no date is the earliest. */
function zipTime(date: string): number {
  return Math.min(Math.max(Date.parse(date) || 0, EARLIEST), LATEST)
}

/** Control characters, what turns the reading direction, and what Windows forbids in a name. */
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

/** Whole characters up to so many bytes. An extension stays, if it is one. */
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

function freeName(path: string, taken: Set<string>): string {
  const [stem, extension] = stemAndExtension(path)
  let name = path
  for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${stem} (${number})${extension}`
  taken.add(name.toLowerCase())
  return name
}
