// Which project of a user has which reference, for as many projects as a file holds, in little memory.
import { randomInt } from 'node:crypto'
import type { LinePlace } from './lines.ts'

const INITIAL_SLOTS = 1_024
const MAX_LOAD = 0.5
const CLAIMS_PER_PAGE = 8_192
const MAX_SEED = 2 ** 32
/** Of a line that is read again; what longer ones claim is kept, or each repetition would cost as much as the first of them. */
const MAX_BYTES_TO_READ_AGAIN = 16_384

export interface RefClaim {
  readonly email: string
  readonly ref: string
  /** Of the document that claims it. */
  readonly id: string
}

export interface RefClaims {
  /** False when another document of the user has claimed the reference before. `place` is where this one stands. */
  readonly claim: (claim: RefClaim, place: LinePlace) => boolean
}

export interface RefClaimsOptions {
  /** Reads again what was claimed with this place. */
  readonly readClaim: (place: LinePlace) => RefClaim
  /** 32 bits. */
  readonly hashOf?: (email: string, ref: string) => number
}

/**
 * Open addressing, four bytes a slot, and 16 bytes for each claim: a hash and the place of the line that claimed first. Where
 * hashes are equal that line is read again, so that neither chance nor intent makes one reference pass for another.
 */
export function createRefClaims({ readClaim, hashOf = createHash() }: RefClaimsOptions): RefClaims {
  /** Numbers of claims, from 1; 0 is an empty slot. */
  let slots = new Uint32Array(INITIAL_SLOTS)
  const places = createPlaces()
  /** Of long lines, by the number of the claim. */
  const kept = new Map<number, RefClaim>()

  /** The first empty one. */
  function slotFor(hash: number): number {
    let slot = hash & (slots.length - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
    return slot
  }

  function grow(): void {
    slots = new Uint32Array(slots.length * 2)
    for (let claim = 0; claim < places.count(); claim += 1) slots[slotFor(places.hashOf(claim))] = claim + 1
  }

  function find({ email, ref }: RefClaim, hash: number): RefClaim | null {
    const mask = slots.length - 1
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const claim = (slots[slot] ?? 0) - 1
      if (places.hashOf(claim) !== hash) continue
      const found = kept.get(claim) ?? readClaim(places.placeOf(claim))
      if (found.ref === ref && found.email === email) return found
    }
    return null
  }

  return {
    claim(claim, place) {
      const hash = hashOf(claim.email, claim.ref) >>> 0
      const holder = find(claim, hash)
      if (holder) return holder.id === claim.id
      if (place.endOffset - place.startOffset > MAX_BYTES_TO_READ_AGAIN) kept.set(places.count(), claim)
      places.add(hash, place)
      slots[slotFor(hash)] = places.count()
      if (places.count() > slots.length * MAX_LOAD) grow()
      return true
    },
  }
}

/** Hashes and places in the order they were added: in pages, so that growing copies nothing. */
function createPlaces() {
  const pages: ReturnType<typeof createPage>[] = []
  let count = 0
  const pageOf = (claim: number) => pages[Math.floor(claim / CLAIMS_PER_PAGE)]
  return {
    count: () => count,
    hashOf: (claim: number): number => pageOf(claim)?.hashes[claim % CLAIMS_PER_PAGE] ?? 0,
    placeOf(claim: number): LinePlace {
      const page = pageOf(claim)
      const startOffset = page?.starts[claim % CLAIMS_PER_PAGE] ?? 0
      return { startOffset, endOffset: startOffset + (page?.byteLengths[claim % CLAIMS_PER_PAGE] ?? 0) }
    },
    add(hash: number, { startOffset, endOffset }: LinePlace): void {
      if (count % CLAIMS_PER_PAGE === 0) pages.push(createPage())
      const page = pageOf(count)
      if (page) {
        page.hashes[count % CLAIMS_PER_PAGE] = hash
        page.starts[count % CLAIMS_PER_PAGE] = startOffset
        page.byteLengths[count % CLAIMS_PER_PAGE] = endOffset - startOffset
      }
      count += 1
    },
  }
}

function createPage() {
  return {
    hashes: new Uint32Array(CLAIMS_PER_PAGE),
    starts: new Float64Array(CLAIMS_PER_PAGE),
    byteLengths: new Uint32Array(CLAIMS_PER_PAGE),
  }
}

/** FNV-1a from a start of its own, its bits mixed as MurmurHash3 does at its end. */
function createHash(): (email: string, ref: string) => number {
  const seed = randomInt(MAX_SEED)
  return (email, ref) => {
    // No email has a space.
    const hash = addText(Math.imul(addText(seed, email) ^ 0x20, 0x01000193), ref)
    const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    const mixedAgain = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return mixedAgain ^ (mixedAgain >>> 16)
  }
}

function addText(hash: number, text: string): number {
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}
