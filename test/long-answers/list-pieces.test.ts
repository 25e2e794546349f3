// Tests in how many chunks a long list is sent.
import { expect, test } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { documentsResponse } from '../../src/rest/collection-response.ts'
import type { StoredDocument } from '../../src/store/contract.ts'

/** Each chunk costs a turn of the event loop and a write: a list of 50,000 projects, 6 MB, took two seconds. */
test.each([
  {
    what: 'short documents',
    texts: Array.from({ length: 60_000 }, (_, id) => `{"id":"p${id}","name":"${'n'.repeat(80)}"}`),
  },
  {
    what: 'documents of all lengths',
    // Characters of two code units, cut at an odd offset.
    texts: Array.from({ length: 40 }, (_, id) => `{"id":"p${id}","name":".${'🦋'.repeat(id * id * 200 + id)}"}`),
  },
])('a long list of $what is made and sent in as few chunks as its length requires', async ({ texts }) => {
  using holding = createInFlightBytes(1_000_000_000).open()
  let turns = 0
  const documents = texts.map(
    (text, id): StoredDocument => ({ userId: 1, kind: 'project', position: id, id: String(id), ref: `p${id}`, text }),
  )
  const { body } = await documentsResponse(
    documents,
    async () => {
      turns += 1
    },
    holding,
  )
  const pieces: Uint8Array[] = []
  for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece)
  const expected = `[${texts.join(',')}]`
  expect(Buffer.concat(pieces).toString() === expected).toBe(true)
  // A chunk has a quarter of a million characters. A longer document ends the chunk before it.
  expect(pieces.length).toBeLessThan((expected.length / 262_144) * 2 + 2)
  expect(turns).toBe(pieces.length)
})
