// Ids of requests and traces: of the right length, and never the same twice.
import { expect, test } from 'vitest'
import { createIds } from '../../src/http/random-ids.ts'

test.each([8, 16, 24])(
  'ids of %d bytes are hexadecimal, complete and all different, beyond the end of every pool',
  (byteLength) => {
    const next = createIds(byteLength)
    const ids = Array.from({ length: 5_000 }, next)
    expect(ids.filter((id) => !/^[0-9a-f]+$/.test(id) || id.length !== byteLength * 2)).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
    // Nor does an id begin inside another one. Two halves of four bytes may be the same by chance.
    const text = ids.join('')
    const halves = Array.from({ length: ids.length * 2 }, (_, at) => text.slice(at * byteLength, (at + 1) * byteLength))
    expect(new Set(halves).size).toBeGreaterThan(halves.length - 5)
  },
)
