// Counts the memory that a cached body takes, and copies a body out of a larger buffer, which would be kept as well.

/** Memory that an entry takes besides its body: headers, key, bookkeeping. */
const OVERHEAD_BYTES = 1_024

/** Returns the memory that a body takes under this name. */
export function occupiedBytes(byteLength: number, name: string): number {
  return byteLength + name.length * 2 + OVERHEAD_BYTES
}

/** A Buffer from zlib is often a slice of up to 64 KiB: caching the slice would keep all of that alive. */
export function inOwnMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.byteLength)
  own.set(bytes)
  return own
}
