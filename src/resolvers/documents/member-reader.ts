// Takes members out of documents that mostly look alike: which member follows which is learned from the documents before.
import { nameOf, skipColon, skipSpace, skipString, skipValue } from '../../json-text.ts'

const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** What a reader remembers is bounded: so many members, and of names no longer than this. */
const MAX_KNOWN_MEMBERS = 256
const MAX_KNOWN_LENGTH = 64

/** UTF-16 units of a document from which on its short members are copied: a slice would hold on to all of it. */
const MIN_LONG_DOCUMENT = 4_096

/** The members that are wanted, each with its place in what the reader answers. */
export type MemberSlots = ReadonlyMap<string, number>

/** The text of each wanted member as it is written in a document, at its slot; null for one that the document lacks. */
export type MemberReader = (document: string) => readonly (string | null)[]

interface KnownMember {
  /** Its name as written, up to and with the colon. */
  readonly opening: string
  /** -1 for what nobody wants. */
  readonly slot: number
  /** What stood behind it the last time. */
  next: KnownMember | null
}

/** Of members whose name is written twice it takes the last, as JSON.parse does. One pass, however many are wanted. */
export function createMemberReader(slots: MemberSlots): MemberReader {
  const known = new Map<string, KnownMember>()
  const beginning: KnownMember = { opening: '', slot: -1, next: null }

  function learn(text: string, at: number, before: KnownMember): KnownMember {
    const nameEnd = skipString(text, at)
    const written = text.slice(at, skipColon(text, nameEnd))
    const seen = known.get(written)
    if (seen) {
      before.next = seen
      return seen
    }
    const opening = copyOf(written)
    const member: KnownMember = { opening, slot: slots.get(nameOf(text, at, nameEnd)) ?? -1, next: null }
    if (known.size < MAX_KNOWN_MEMBERS && opening.length <= MAX_KNOWN_LENGTH) {
      known.set(opening, member)
      before.next = member
    }
    return member
  }

  return (text) => {
    const texts: (string | null)[] = new Array(slots.size).fill(null)
    let at = skipSpace(text, 0)
    if (text.charCodeAt(at) !== OPEN_BRACE) return texts
    at = skipSpace(text, at + 1)
    let member = beginning
    while (text.charCodeAt(at) !== CLOSE_BRACE) {
      const { next } = member
      member = next !== null && text.startsWith(next.opening, at) ? next : learn(text, at, member)
      const start = skipSpace(text, at + member.opening.length)
      const end = skipValue(text, start)
      if (member.slot !== -1) texts[member.slot] = memberText(text, start, end)
      at = skipSpace(text, end)
      if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
    }
    return texts
  }
}

function memberText(document: string, start: number, end: number): string {
  const written = document.slice(start, end)
  const isSmallPart = document.length >= MIN_LONG_DOCUMENT && 2 * written.length < document.length
  return isSmallPart ? copyOf(written) : written
}

/** V8's slices refer to the whole string that they are cut from. */
function copyOf(slice: string): string {
  return Buffer.from(slice).toString()
}
