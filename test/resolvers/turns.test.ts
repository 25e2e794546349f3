// What resolvers wait for before they read: a turn of the event loop with room for it.
import { expect, test } from 'vitest'
import type { Context } from '../../src/resolvers/context.ts'
import { resolvers } from '../../src/resolvers/resolvers.ts'
import type { StoredDocument } from '../../src/store/contract.ts'

/** A context that records each wait with its length. */
function recording(events: unknown[], context: object): Context {
  async function paceReading(byteLength: number): Promise<void> {
    events.push(byteLength)
  }
  return { ...context, paceReading } as unknown as Context
}

test('the number of exports of a project is counted after its turn, and their list is not read', async () => {
  const events: unknown[] = []
  const reads = {
    async exportCount({ ref }: { readonly ref: string }) {
      events.push(ref)
      return 3
    },
  }
  const project = { userId: 1, ref: 'site' } as StoredDocument
  const connection = resolvers.Project.exportsConnection(project, {}, recording(events, { reads }))
  expect(events).toEqual([])
  expect(await resolvers.ExportConnection.totalCount(connection)).toBe(3)
  expect(events).toEqual([2_048, 'site'])
})
