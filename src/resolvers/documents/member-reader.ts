// Takes members out of documents that mostly look alike: which member follows which is learned from the documents before.
import { nameOf, skipColon, skipSpace, skipString, skipValue } from '../../json-text.ts'

const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** What a reader remembers is bounded: so many members, and of names no longer than this. */
const MAX_KNOWN_MEMBERS = 256
const MAX_KNOWN_LENGTH = 64
/** Members there was no room to remember, after which everything is forgotten: a reader serves all users, and the documents of one may have filled it. */
const MAX_STRANGERS = 4_096

/** UTF-16 units of a document from which on its short members are copied: a slice would hold on to all of it. */
const MIN_LONG_DOCUMENT = 4_096

/** Of members whose name is written twice it takes the last, as JSON.parse does. One pass, however many are wanted. */
export interface MemberReader {
  /** The text of each wanted member as it is written in a document; null for one that the document lacks. `wanted` are places in the names of the reader. */
  readonly texts: (document: string, wanted: readonly number[]) => (string | null)[]
  /** Where all members stand in a document, two numbers for each name of the reader: start and end, 0 for one that the document lacks. */
  readonly spans: (document: string) => Int32Array
}

interface KnownMember {
  /** Its name as written, up to and with the colon. */
  readonly opening: string
  readonly openingLength: number
  /** In the names of the reader; -1 for what it does not look for. */
  readonly place: number
  /** What stood behind it the last time. */
  next: KnownMember | null
}

/** Looks for members of these names. */
export function createMemberReader(names: readonly string[]): MemberReader {
  const places = new Map(names.map((name, place) => [name, place]))
  const known = new Map<string, KnownMember>()
  const beginning: KnownMember = { opening: '', openingLength: 0, place: -1, next: null }
  const found = new Int32Array(2 * names.length)
  let strangers = 0

  function forget(): void {
    known.clear()
    beginning.next = null
    strangers = 0
  }

  /** A member that is not the one that was expected behind `before`. */
  function meet(text: string, at: number, before: KnownMember): KnownMember {
    const nameEnd = skipString(text, at)
    const openingLength = skipColon(text, nameEnd) - at
    const isShort = openingLength <= MAX_KNOWN_LENGTH
    const written = isShort ? text.slice(at, at + openingLength) : ''
    const seen = isShort ? known.get(written) : undefined
    if (seen) {
      before.next = seen
      return seen
    }
    const place = places.get(nameOf(text, at, nameEnd)) ?? -1
    if (isShort && known.size < MAX_KNOWN_MEMBERS) {
      const opening = copyOf(written)
      const member: KnownMember = { opening, openingLength, place, next: null }
      known.set(opening, member)
      before.next = member
      return member
    }
    if (isShort) strangers += 1
    return { opening: '', openingLength, place, next: null }
  }

  function scan(text: string): void {
    found.fill(0)
    if (strangers > MAX_STRANGERS) forget()
    let at = skipSpace(text, 0)
    if (text.charCodeAt(at) !== OPEN_BRACE) return
    at = skipSpace(text, at + 1)
    let member = beginning
    while (text.charCodeAt(at) !== CLOSE_BRACE) {
      const { next } = member
      member = next !== null && text.startsWith(next.opening, at) ? next : meet(text, at, member)
      const start = skipSpace(text, at + member.openingLength)
      const end = skipValue(text, start)
      if (member.place !== -1) {
        found[2 * member.place] = start
        found[2 * member.place + 1] = end
      }
      at = skipSpace(text, end)
      if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
    }
  }

  return {
    texts(document, wanted) {
      scan(document)
      const texts: (string | null)[] = new Array(wanted.length)
      for (let index = 0; index < wanted.length; index += 1) {
        texts[index] = memberText(document, found, wanted[index] ?? -1)
      }
      return texts
    },
    spans(document) {
      scan(document)
      return found.slice()
    },
  }
}

/** The text of the member at this place, with the spans of its document. */
export function memberText(document: string, spans: Int32Array, place: number): string | null {
  const start = spans[2 * place] ?? 0
  const end = spans[2 * place + 1] ?? 0
  if (end === 0) return null
  const written = document.slice(start, end)
  const isSmallPart = document.length >= MIN_LONG_DOCUMENT && 2 * written.length < document.length
  return isSmallPart ? copyOf(written) : written
}

/** V8's slices refer to the whole string that they are cut from. */
function copyOf(slice: string): string {
  return Buffer.from(slice).toString()
}
