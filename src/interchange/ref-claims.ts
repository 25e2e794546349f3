// Which project of a user has which reference, for as many projects as a file holds, in little memory.
import { hash } from 'node:crypto'

const INITIAL_SLOTS = 1_024
const MAX_LOAD = 0.5

export interface RefClaims {
  /** False when another document of the user has claimed the reference before. */
  readonly claim: (email: string, ref: string, id: string) => boolean
}

/**
 * Open addressing over 64 bits of a hash of the reference and of the id each: 16 bytes a slot. Two of a million
 * references are taken for the same with a probability below 10⁻⁷; the cost would be a line refused.
 */
export function createRefClaims(): RefClaims {
  let slots = new BigUint64Array(INITIAL_SLOTS * 2)
  let used = 0

  function slotOf(table: BigUint64Array, key: bigint): number {
    const mask = table.length / 2 - 1
    let slot = Number(key & 0xffffffffn) & mask
    while (table[slot * 2] !== 0n && table[slot * 2] !== key) slot = (slot + 1) & mask
    return slot * 2
  }

  function grow(): void {
    const larger = new BigUint64Array(slots.length * 2)
    for (let at = 0; at < slots.length; at += 2) {
      const key = slots[at] ?? 0n
      if (key === 0n) continue
      const slot = slotOf(larger, key)
      larger[slot] = key
      larger[slot + 1] = slots[at + 1] ?? 0n
    }
    slots = larger
  }

  return {
    claim(email, ref, id) {
      const key = hash64(`${email} ${ref}`)
      const owner = hash64(id)
      const slot = slotOf(slots, key)
      if (slots[slot] !== 0n) return slots[slot + 1] === owner
      slots[slot] = key
      slots[slot + 1] = owner
      used += 1
      if (used > (slots.length / 2) * MAX_LOAD) grow()
      return true
    },
  }
}

/** Never 0, which marks an empty slot. */
function hash64(text: string): bigint {
  return hash('sha1', text, 'buffer').readBigUInt64LE() || 1n
}
