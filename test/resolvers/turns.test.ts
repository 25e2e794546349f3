// What resolvers wait for before they read: a turn of the event loop with room for it.
import { expect, test } from 'vitest'
import type { Context } from '../../src/resolvers/context.ts'
import { createNodeIds } from '../../src/resolvers/identity/node-id.ts'
import { resolvers } from '../../src/resolvers/resolvers.ts'
import type { DocumentKey, StoredDocument } from '../../src/store/contract.ts'
import { ANA } from '../support/workspaces.ts'

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

test('the objects of several ids are looked up after their turn', async () => {
  const events: unknown[] = []
  const nodeIds = createNodeIds(ANA)
  const document = {
    async load({ id }: DocumentKey) {
      events.push(id)
      return null
    },
  }
  const context = { nodeIds, viewer: { userId: 1, email: ANA }, loaders: () => ({ document }) }
  const ids = ['one', 'two'].map((id) => nodeIds.document({ kind: 'template', id }))
  expect(await resolvers.Query.nodes({}, { ids }, recording(events, context))).toEqual([null, null])
  expect(events).toEqual([2_048, 'one', 'two'])
  const tooMany = Array.from({ length: 101 }, () => 'x')
  expect(() => resolvers.Query.nodes({}, { ids: tooMany }, recording(events, context))).toThrow('at most 100')
  expect(events).toHaveLength(3)
})
