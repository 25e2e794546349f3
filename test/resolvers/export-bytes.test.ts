// The bytes of an export: a small export is read whole, a larger one page by page, and a missing part is an error.
import { describe, expect, test } from 'vitest'
import { type ExportReading, exportBytes } from '../../src/resolvers/documents/export-bytes.ts'
import type { ElementRunQuestion, StoredExport } from '../../src/store/contract.ts'

const EXPORT: StoredExport = {
  id: 7,
  userId: 3,
  ref: 'site',
  createdAt: '2026-01-01T00:00:00Z',
  instant: '2026-01-01T00:00:00.000000000Z',
  digest: '00'.repeat(32),
  byteLength: 0,
  elementCount: 0,
}
const MIB = 1_048_576

/** Each element is one digit; a page has as many elements as are asked for. */
function openReading({ removedAfter = Number.POSITIVE_INFINITY, isOwnBuffer = true } = {}) {
  const asked: Omit<ElementRunQuestion, 'userId' | 'exportId' | 'digest'>[] = []
  const told: string[] = []
  const given: Uint8Array[] = []
  let count = 0
  const reading: ExportReading = {
    reads: {
      async elementRun({ userId, exportId, digest, after, maxElements, maxBytes }) {
        expect([userId, exportId, digest]).toEqual([EXPORT.userId, EXPORT.id, EXPORT.digest])
        asked.push({ after, maxElements, maxBytes })
        if (asked.length > 100) throw new Error('there is no end of pages')
        if (after >= removedAfter) return null
        const last = Math.min(after + maxElements, count)
        const text = Array.from({ length: last - after }, () => '1').join()
        const bytes = isOwnBuffer ? new Uint8Array(Buffer.byteLength(text)) : Buffer.from(`${text} `).subarray(0, -1)
        Buffer.from(text).copy(bytes)
        given.push(bytes)
        return { bytes, last }
      },
    },
    async yieldTurn() {
      told.push('turn')
    },
    paceReading(byteLength) {
      told.push(`pace ${byteLength}`)
      return null
    },
  }
  return {
    asked,
    told,
    given,
    read(elementCount: number, byteLength: number) {
      count = elementCount
      return exportBytes({ ...EXPORT, elementCount, byteLength }, reading)
    },
  }
}

const textOf = (count: number) => `[${Array.from({ length: count }, () => '1').join()}]`

describe('an export is read whole', () => {
  test('up to a mebibyte and 2,048 elements', async () => {
    for (const [count, byteLength] of [
      [1, MIB],
      [2_048, 4_097],
    ] as const) {
      const { read, asked, told } = openReading()
      expect(Buffer.from((await read(count, byteLength)) as Uint8Array).toString()).toBe(textOf(count))
      expect(asked).toEqual([{ after: 0, maxElements: count, maxBytes: byteLength }])
      expect(told).toEqual([`pace ${byteLength}`])
    }
  })

  test('without a read if it has no elements', async () => {
    const { read, asked } = openReading()
    expect(Buffer.from((await read(0, 2)) as Uint8Array).toString()).toBe('[]')
    expect(asked).toEqual([])
  })

  test('or fails with UNAVAILABLE if it was removed meanwhile', async () => {
    await expect(openReading({ removedAfter: 0 }).read(3, 7)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

describe('an export is streamed', () => {
  async function collect(chunks: AsyncIterable<Uint8Array>, copies: string[]) {
    for await (const chunk of chunks) copies.push(Buffer.from(chunk).toString())
  }

  test.for([
    // A page has as many elements as come to 128 KiB on average, …
    [8, MIB + 1, 1, MIB],
    [100, 2 * MIB, 6, 2 * MIB],
    // … but at least one, and never more than 2,048.
    [2, 8 * MIB, 1, 8 * MIB],
    [2_049, 5_000, 2_048, 0],
    [5_000, 10_001, 2_048, 0],
  ] as const)('in pages: %i elements of %i bytes, %i at a time', async ([count, byteLength, atATime]) => {
    const { read, asked, told } = openReading()
    const stream = read(count, byteLength)
    if (!('chunks' in stream)) throw new Error('it came whole')
    expect(stream.byteLength).toBe(byteLength)
    // A stream can be read more than once.
    for (let time = 0; time < 2; time += 1) {
      const copies: string[] = []
      await collect(stream.chunks(), copies)
      expect(copies.join('')).toBe(textOf(count))
    }
    const pages = Math.ceil(count / atATime)
    expect(asked).toEqual(
      [0, 1].flatMap(() =>
        Array.from({ length: pages }, (_, page) => ({
          after: page * atATime,
          maxElements: atATime,
          maxBytes: 262_144,
        })),
      ),
    )
    expect(told).toEqual(Array.from({ length: 2 * pages }, () => 'turn'))
  })

  test('and breaks off if it is removed meanwhile', async () => {
    const stream = openReading({ removedAfter: 2 }).read(8, MIB + 1)
    if (!('chunks' in stream)) throw new Error('it came whole')
    const copies: string[] = []
    await expect(collect(stream.chunks(), copies)).rejects.toThrow('removed while it was being sent')
    expect(copies).toEqual(['[', '1', ',', '1'])
  })

  test.for([true, false])(
    'and each page is released after its use, if it has a buffer of its own: %s',
    async (isOwnBuffer) => {
      const { read, given } = openReading({ isOwnBuffer })
      const stream = read(8, MIB + 1)
      if (!('chunks' in stream)) throw new Error('it came whole')
      await collect(stream.chunks(), [])
      expect(given.map(({ byteLength }) => byteLength)).toEqual(given.map(() => (isOwnBuffer ? 0 : 1)))
    },
  )
})
