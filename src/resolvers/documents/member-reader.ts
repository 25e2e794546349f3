// Cuts members out of documents that mostly have the same layout: it learns from earlier documents which member follows
// which.
import { nameOf, skipColon, skipSpace, skipString, skipValue } from '../../json-text.ts'

const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Bounds of what a reader learns: the number of members, and the length of a name as written, up to and with the colon.
 */
const MAX_KNOWN_MEMBERS = 256
const MAX_KNOWN_LENGTH = 64
/**
 * After this many members that did not fit, the reader forgets everything: it serves all users, and the documents of
 * one user may have filled it.
 */
const MAX_UNLEARNED = 4_096

/**
 * In documents of at least this many UTF-16 units, short members are copied: a slice would keep the whole document
 * alive.
 */
const MIN_LONG_DOCUMENT = 4_096

/** Reads all wanted members in one pass. If a name occurs twice, the last member counts, as in JSON.parse. */
export interface MemberReader {
  /**
   * The text of each wanted member as written; null if the document lacks it. `wanted` holds indexes into the names of
   * the reader.
   */
  readonly texts: (document: string, wanted: readonly number[]) => (string | null)[]
  /** The offsets of all members: start and end for each name of the reader, both 0 if the document lacks it. */
  readonly spans: (document: string) => Int32Array
}

interface KnownMember {
  /** The name as written, up to and with the colon. */
  readonly opening: string
  readonly openingLength: number
  /** Index in the names of the reader; -1 for a member that it does not look for. */
  readonly place: number
  /** The member that followed this one the last time. */
  next: KnownMember | null
}

/** Creates a reader of the members with these names. */
export function createMemberReader(names: readonly string[]): MemberReader {
  const places = new Map(names.map((name, place) => [name, place]))
  const known = new Map<string, KnownMember>()
  const beginning: KnownMember = { opening: '', openingLength: 0, place: -1, next: null }
  const found = new Int32Array(2 * names.length)
  let unlearnedCount = 0

  function forget(): void {
    known.clear()
    beginning.next = null
    unlearnedCount = 0
  }

  /** Reads the name of a member other than the one that was expected after `before`. */
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
    if (isShort) unlearnedCount += 1
    return { opening: '', openingLength, place, next: null }
  }

  function scan(text: string): void {
    found.fill(0)
    if (unlearnedCount > MAX_UNLEARNED) forget()
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

/** The text of the member with this index; `spans` are the offsets in the document. Null if the document lacks it. */
export function memberText(document: string, spans: Int32Array, place: number): string | null {
  const start = spans[2 * place] ?? 0
  const end = spans[2 * place + 1] ?? 0
  if (end === 0) return null
  const written = document.slice(start, end)
  const isSmallPart = document.length >= MIN_LONG_DOCUMENT && 2 * written.length < document.length
  return isSmallPart ? copyOf(written) : written
}

/** Copies a text: a slice in V8 refers to the whole string that it was cut from. */
function copyOf(slice: string): string {
  return Buffer.from(slice).toString()
}
