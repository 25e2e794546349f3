// An export as a zip file that no unpacker can be led astray by.
import { strToU8, zipSync } from 'fflate'
import type { Element } from './project.ts'

/** Paths stay inside the folder they are unpacked to, and no two files share one. */
export function zipOf(elements: readonly Element[]): Uint8Array<ArrayBuffer> {
  const files: Record<string, Uint8Array> = {}
  const taken = new Set<string>()
  for (const { path, content, isFile } of elements) {
    files[freeName(safePath(isFile ? path : `${path}.json`), taken)] = strToU8(content)
  }
  return new Uint8Array(zipSync(files, { level: 6 }))
}

export function safePath(path: string): string {
  const parts = path
    .split(/[/\\]/)
    // Control characters and what Windows forbids in a name.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .map((part) => part.replace(/[\u0000-\u001f<>:"|?*]/g, '_').trim())
    .filter((part) => part !== '' && part !== '.' && part !== '..')
  return parts.join('/') || 'file'
}

function freeName(path: string, taken: Set<string>): string {
  const match = /^(.*?)(\.[^./]*)?$/s.exec(path)
  const [stem, extension] = [match?.[1] ?? path, match?.[2] ?? '']
  let name = path
  for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${stem} (${number})${extension}`
  taken.add(name.toLowerCase())
  return name
}
