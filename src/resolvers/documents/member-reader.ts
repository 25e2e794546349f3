// Cuts members out of documents that mostly have the same layout: it learns from earlier documents which member follows
// which.
import {
  nameOf,
  notJson,
  type Position,
  skipColon,
  skipNested,
  skipSpace,
  skipString,
  skipValue,
} from '../../json-text.ts'

const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
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
  /** The same for a long document: reads about `pieceLength` UTF-16 units, then yields. */
  readonly spansInPieces: (document: string, pieceLength: number) => Generator<void, Int32Array>
}

/** Where a scan is: before a member with depth 0, otherwise in the array or object that is the value of `member`. */
interface Scan extends Position {
  member: KnownMember
  /** Offset of that value. */
  start: number
  /** The end of the object was found, or the document is no object. */
  isDone: boolean
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

  function beginScan(text: string): Scan {
    if (unlearnedCount > MAX_UNLEARNED) forget()
    const at = skipSpace(text, 0)
    const isObject = text.charCodeAt(at) === OPEN_BRACE
    return { at: isObject ? skipSpace(text, at + 1) : at, depth: 0, member: beginning, start: 0, isDone: !isObject }
  }

  /**
   * Moves on to the end of the object or, if that comes first, to an offset at or after `until`. Throws when the text
   * ends before the object.
   */
  function scanUntil(text: string, scan: Scan, found: Int32Array, until: number): void {
    let { at, member } = scan
    while (!scan.isDone && at < until) {
      if (scan.depth === 0) {
        if (text.charCodeAt(at) === CLOSE_BRACE) {
          scan.isDone = true
          break
        }
        const { next } = member
        member = next !== null && text.startsWith(next.opening, at) ? next : meet(text, at, member)
        at = skipSpace(text, at + member.openingLength)
        scan.start = at
        const first = text.charCodeAt(at)
        if (first === OPEN_BRACE || first === OPEN_BRACKET) {
          scan.at = at + 1
          scan.depth = 1
        } else at = skipValue(text, at)
      }
      if (scan.depth > 0) {
        skipNested(text, scan, until)
        at = scan.at
        if (scan.depth > 0) break
      }
      if (member.place !== -1) {
        found[2 * member.place] = scan.start
        found[2 * member.place + 1] = at
      }
      at = skipSpace(text, at)
      if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
    }
    if (!scan.isDone && at >= text.length) throw notJson()
    scan.at = at
    scan.member = member
  }

  function scanWhole(text: string): void {
    found.fill(0)
    scanUntil(text, beginScan(text), found, text.length)
  }

  return {
    texts(document, wanted) {
      scanWhole(document)
      const texts: (string | null)[] = new Array(wanted.length)
      for (let index = 0; index < wanted.length; index += 1) {
        texts[index] = memberText(document, found, wanted[index] ?? -1)
      }
      return texts
    },
    spans(document) {
      scanWhole(document)
      return found.slice()
    },
    *spansInPieces(document, pieceLength) {
      const spans = new Int32Array(2 * names.length)
      const scan = beginScan(document)
      while (!scan.isDone) {
        scanUntil(document, scan, spans, Math.min(scan.at + pieceLength, document.length))
        yield
      }
      return spans
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
