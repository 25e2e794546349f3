// Which project of a user has which reference, for as many projects as a file holds, in little memory.
import { randomInt } from 'node:crypto'
import type { LinePlace } from './lines.ts'

const INITIAL_SLOTS = 1_024
const MAX_LOAD = 0.5
const MAX_SEED = 2 ** 32

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
  readonly claimAt: (place: LinePlace) => RefClaim
  /** 32 bits. */
  readonly hashOf?: (email: string, ref: string) => number
}

/**
 * Open addressing, 16 bytes a slot: a hash and the place of the line that claimed first. Where hashes are equal that line is
 * read again, so that neither chance nor intent makes one reference pass for another.
 */
export function createRefClaims({ claimAt, hashOf = createHash() }: RefClaimsOptions): RefClaims {
  let slots = createSlots(INITIAL_SLOTS)
  let used = 0

  function put(hash: number, start: number, byteLength: number): void {
    const { hashes, starts, byteLengths } = slots
    let slot = hash & (hashes.length - 1)
    while (hashes[slot] !== 0) slot = (slot + 1) & (hashes.length - 1)
    hashes[slot] = hash
    starts[slot] = start
    byteLengths[slot] = byteLength
  }

  function grow(): void {
    const { hashes, starts, byteLengths } = slots
    slots = createSlots(hashes.length * 2)
    for (let slot = 0; slot < hashes.length; slot += 1) {
      const hash = hashes[slot] ?? 0
      if (hash !== 0) put(hash, starts[slot] ?? 0, byteLengths[slot] ?? 0)
    }
  }

  function find({ email, ref }: RefClaim, hash: number): RefClaim | null {
    const { hashes, starts, byteLengths } = slots
    const mask = hashes.length - 1
    for (let slot = hash & mask; hashes[slot] !== 0; slot = (slot + 1) & mask) {
      if (hashes[slot] !== hash) continue
      const startOffset = starts[slot] ?? 0
      const found = claimAt({ startOffset, endOffset: startOffset + (byteLengths[slot] ?? 0) })
      if (found.ref === ref && found.email === email) return found
    }
    return null
  }

  return {
    claim(claim, { startOffset, endOffset }) {
      // 0 marks an empty slot.
      const hash = hashOf(claim.email, claim.ref) >>> 0 || 1
      const holder = find(claim, hash)
      if (holder) return holder.id === claim.id
      put(hash, startOffset, endOffset - startOffset)
      used += 1
      if (used > slots.hashes.length * MAX_LOAD) grow()
      return true
    },
  }
}

function createSlots(count: number) {
  return {
    hashes: new Uint32Array(count),
    starts: new Float64Array(count),
    byteLengths: new Uint32Array(count),
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
