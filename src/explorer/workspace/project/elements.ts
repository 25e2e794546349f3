// Parses the elements of an export; an element with a path and a content is a file.
import { elementTexts } from '../../../json-text.ts'

export interface Element {
  readonly path: string
  readonly content: string
  /** True if `content` is the element's own `content` member; false if it is the whole element as text. */
  readonly isFile: boolean
  /** Whether `content` is base64, as the element declares with `encoding: "base64"`. */
  readonly isBase64: boolean
}

/** Has no repeated group, because browsers fail on one in a text of some megabytes. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** `body` is the text of an array of elements, as in `GET /exports?r=`. Returns an empty list for any other value. */
export function elementsOf(body: string): readonly Element[] {
  return (elementTexts(body) ?? []).map((text, index) => {
    const value: unknown = JSON.parse(text)
    const { path, content, encoding } = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
      Record<string, unknown>
    >
    const name = typeof path === 'string' && path.trim() !== '' ? path : `element ${index + 1}`
    if (typeof path !== 'string' || typeof content !== 'string') {
      return { path: name, content: text, isFile: false, isBase64: false }
    }
    return { path: name, content, isFile: true, isBase64: encoding === 'base64' && isBase64(content) }
  })
}

function isBase64(content: string): boolean {
  const digits = content.replace(/\s/g, '')
  return digits.length % 4 === 0 && BASE64.test(digits)
}

export function bytesOf({ content, isBase64 }: Element): Uint8Array<ArrayBuffer> {
  if (!isBase64) return new TextEncoder().encode(content)
  const characters = atob(content.replace(/\s/g, ''))
  const bytes = new Uint8Array(characters.length)
  // A loop, because a callback per byte takes several times as long for a large image.
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at)
  return bytes
}

/** The number of bytes, computed without decoding base64. */
export function byteLengthOf(element: Element): number {
  if (!element.isBase64) return bytesOf(element).byteLength
  const digits = element.content.replace(/[\s=]/g, '').length
  return Math.floor((digits * 3) / 4)
}
