// Maps names of users' items to lines of a file, in little memory for any number of lines.
import { randomInt } from 'node:crypto'
import type { LinePlace } from '../format/lines.ts'

const INITIAL_SLOTS = 1_024
const MAX_LOAD = 0.5
const ENTRIES_PER_PAGE = 8_192
const MAX_SEED = 2 ** 32
/**
 * Maximum size of a line that is read again. The values of longer lines are kept in memory: otherwise each repetition
 * would cost as much as the first read.
 */
const MAX_BYTES_TO_READ_AGAIN = 16_384

export interface NamedByUser {
  readonly email: string
  readonly name: string
}

/** A 32-bit hash. */
export type HashOf = (email: string, name: string) => number

export interface Found<T> {
  /** Number of the entry, from 0, in the order of insertion. */
  readonly entry: number
  readonly value: T
  readonly place: LinePlace
}

export interface PlaceIndex<T> {
  /** The entry of the user's item with this name; null when there is none. */
  readonly find: (asked: NamedByUser) => Found<T> | null
  /** The value of the entry. */
  readonly at: (entry: number) => T
  /** Adds an entry. `place` is its line. Must be called only once per name. */
  readonly add: (value: T, place: LinePlace) => void
  /** Replaces the value and the place of an entry. The name must stay the same. */
  readonly replace: (entry: number, value: T, place: LinePlace) => void
}

/**
 * A hash table with open addressing: four bytes per slot, and 16 bytes per entry for the hash and the place of the
 * line. For equal hashes it reads the line again, so neither a chance collision nor a crafted one confuses two names.
 */
export function createPlaceIndex<T extends NamedByUser>(
  read: (place: LinePlace) => T,
  hashOf: HashOf = createHash(),
): PlaceIndex<T> {
  /** Entry numbers plus one; 0 marks an empty slot. */
  let slots = new Uint32Array(INITIAL_SLOTS)
  const places = createPlaces()
  /** Values of long lines, by entry number. */
  const kept = new Map<number, T>()

  /** The first empty slot for the hash. */
  function slotFor(hash: number): number {
    let slot = hash & (slots.length - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
    return slot
  }

  function grow(): void {
    slots = new Uint32Array(slots.length * 2)
    for (let entry = 0; entry < places.count(); entry += 1) slots[slotFor(places.hashOf(entry))] = entry + 1
  }

  function at(entry: number): T {
    return kept.get(entry) ?? read(places.placeOf(entry))
  }

  function keepIfLong(entry: number, value: T, { startOffset, endOffset }: LinePlace): void {
    if (endOffset - startOffset > MAX_BYTES_TO_READ_AGAIN) kept.set(entry, value)
    else kept.delete(entry)
  }

  return {
    find({ email, name }) {
      const hash = hashOf(email, name) >>> 0
      const mask = slots.length - 1
      for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const entry = (slots[slot] ?? 0) - 1
        if (places.hashOf(entry) !== hash) continue
        const value = at(entry)
        if (value.name === name && value.email === email) return { entry, value, place: places.placeOf(entry) }
      }
      return null
    },
    at,
    add(value, place) {
      const hash = hashOf(value.email, value.name) >>> 0
      keepIfLong(places.count(), value, place)
      places.add(hash, place)
      slots[slotFor(hash)] = places.count()
      if (places.count() > slots.length * MAX_LOAD) grow()
    },
    replace(entry, value, place) {
      keepIfLong(entry, value, place)
      places.move(entry, place)
    },
  }
}

/** Stores hashes and places in insertion order, in pages, so that growing copies nothing. */
function createPlaces() {
  const pages: ReturnType<typeof createPage>[] = []
  let count = 0
  const pageOf = (entry: number) => pages[Math.floor(entry / ENTRIES_PER_PAGE)]
  return {
    count: () => count,
    hashOf: (entry: number): number => pageOf(entry)?.hashes[entry % ENTRIES_PER_PAGE] ?? 0,
    placeOf(entry: number): LinePlace {
      const page = pageOf(entry)
      const startOffset = page?.starts[entry % ENTRIES_PER_PAGE] ?? 0
      return { startOffset, endOffset: startOffset + (page?.byteLengths[entry % ENTRIES_PER_PAGE] ?? 0) }
    },
    move(entry: number, { startOffset, endOffset }: LinePlace): void {
      const page = pageOf(entry)
      if (!page) return
      page.starts[entry % ENTRIES_PER_PAGE] = startOffset
      page.byteLengths[entry % ENTRIES_PER_PAGE] = endOffset - startOffset
    },
    add(hash: number, { startOffset, endOffset }: LinePlace): void {
      if (count % ENTRIES_PER_PAGE === 0) pages.push(createPage())
      const page = pageOf(count)
      if (page) {
        page.hashes[count % ENTRIES_PER_PAGE] = hash
        page.starts[count % ENTRIES_PER_PAGE] = startOffset
        page.byteLengths[count % ENTRIES_PER_PAGE] = endOffset - startOffset
      }
      count += 1
    },
  }
}

function createPage() {
  return {
    hashes: new Uint32Array(ENTRIES_PER_PAGE),
    starts: new Float64Array(ENTRIES_PER_PAGE),
    byteLengths: new Uint32Array(ENTRIES_PER_PAGE),
  }
}

/** FNV-1a with a random seed, finalized like MurmurHash3. */
function createHash(): HashOf {
  const seed = randomInt(MAX_SEED)
  return (email, name) => {
    // A space separates the two, because no email contains one.
    const hash = addText(Math.imul(addText(seed, email) ^ 0x20, 0x01000193), name)
    const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    const mixedAgain = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return mixedAgain ^ (mixedAgain >>> 16)
  }
}

function addText(hash: number, text: string): number {
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}
