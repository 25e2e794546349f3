// The contract suite of the store's ledger of REST calls.
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { CLIENTS_PER_DAY, OTHER_CLIENT, type RestCalls } from '../../src/store/rest-call-contract.ts'

export const calls = (changes: Partial<RestCalls> = {}): RestCalls => ({
  day: '2026-11-22',
  route: 'GET /projects',
  client: 'shop/1.2',
  count: 1,
  lastSeen: 5,
  ...changes,
})

export function describeRestCalls(open: () => Store, reopen: () => Promise<Store>): void {
  describe('the ledger of REST calls', () => {
    test('adds up what all writers have counted, and returns it day by day in order', async () => {
      const store = open()
      await using other = await reopen()
      await store.addRestCalls({ writer: 'a', sequence: 1, calls: [calls({ count: 3, lastSeen: 9 })] })
      await other.addRestCalls({
        writer: 'b',
        sequence: 1,
        calls: [
          calls({ count: 4, lastSeen: 7 }),
          calls({ route: 'GET /exports' }),
          calls({ client: 'curl' }),
          calls({ day: '2026-11-21', count: 2 }),
        ],
      })
      await store.addRestCalls({ writer: 'a', sequence: 2, calls: [calls({ count: 10, lastSeen: 8 })] })
      expect(await store.restCallDays('', 9)).toEqual(['2026-11-21', '2026-11-22'])
      expect(await store.restCallDays('', 1)).toEqual(['2026-11-21'])
      expect(await store.restCallDays('2026-11-21', 9)).toEqual(['2026-11-22'])
      expect(await store.restCallsOf(['2026-11-22', '2026-11-21', '2026-11-22'])).toEqual([
        calls({ day: '2026-11-21', count: 2 }),
        calls({ route: 'GET /exports' }),
        calls({ client: 'curl' }),
        calls({ count: 17, lastSeen: 9 }),
      ])
      expect(await store.restCallsOf([])).toEqual([])
    })

    test('counts a batch once, however often it is sent', async () => {
      const store = open()
      const batch = { writer: 'a', sequence: 7, calls: [calls({ count: 3 })] }
      await store.addRestCalls(batch)
      await store.addRestCalls(batch)
      await store.addRestCalls({ ...batch, sequence: 6 })
      expect(await store.restCallsOf(['2026-11-22'])).toEqual([calls({ count: 3 })])
    })

    test('gives a limited number of clients per day their own rows, and loses no call of concurrent writers', async () => {
      const store = open()
      await using other = await reopen()
      const many = (name: string) =>
        Array.from({ length: CLIENTS_PER_DAY / 4 }, (_, index) => calls({ client: `${name}${index}`, count: 2 }))
      const writers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
      await Promise.all(
        writers.map((writer, index) =>
          (index % 2 === 0 ? store : other).addRestCalls({ writer, sequence: 1, calls: many(writer) }),
        ),
      )
      const found = await store.restCallsOf(['2026-11-22'])
      expect(found.filter(({ client }) => client !== OTHER_CLIENT)).toHaveLength(CLIENTS_PER_DAY)
      expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(CLIENTS_PER_DAY * writers.length * 0.5)
      // A client that has a row is counted there, on other routes too; the next day has room for any client.
      const known = found.find(({ client }) => client !== OTHER_CLIENT)?.client ?? ''
      const later = [
        calls({ client: known, route: 'GET /templates' }),
        calls({ client: 'late' }),
        calls({ client: 'late', day: '2026-11-23' }),
      ]
      await store.addRestCalls({ writer: 'a', sequence: 2, calls: later })
      const after = await store.restCallsOf(['2026-11-22', '2026-11-23'])
      expect(after.filter(({ client }) => client === 'late').map(({ day }) => day)).toEqual(['2026-11-23'])
      expect(after).toContainEqual(calls({ client: known, route: 'GET /templates' }))
    })

    test('counts calls under the names that the ledger assigns on a full day too, and they take no place of a client', async () => {
      const store = open()
      const clients = Array.from({ length: CLIENTS_PER_DAY }, (_, index) => calls({ client: `client${index}` }))
      const assigned = ['(refused)', '(unnamed)', OTHER_CLIENT].map((client) => calls({ client }))
      const [before, full] = ['2026-11-21', '2026-11-22']
      await store.addRestCalls({ writer: 'a', sequence: 1, calls: assigned.map((one) => ({ ...one, day: before })) })
      await store.addRestCalls({ writer: 'a', sequence: 2, calls: clients.map((one) => ({ ...one, day: before })) })
      await store.addRestCalls({ writer: 'a', sequence: 3, calls: clients })
      await store.addRestCalls({ writer: 'a', sequence: 4, calls: assigned })
      const named = new Set([...clients, ...assigned].map(({ client }) => client))
      for (const day of [before, full]) {
        const found = await store.restCallsOf([day])
        expect(found.map(({ count }) => count)).toEqual(found.map(() => 1))
        expect(new Set(found.map(({ client }) => client))).toEqual(named)
      }
    })

    test('loses old days, a part at a time, and no others', async () => {
      const store = open()
      const days = ['2026-01-01', '2026-01-02', '2026-01-03']
      await store.addRestCalls({ writer: 'a', sequence: 1, calls: days.map((day) => calls({ day })) })
      expect(await store.removeRestCalls('2026-01-03', 1)).toBe(1)
      expect(await store.removeRestCalls('2026-01-03', 1)).toBe(1)
      expect(await store.removeRestCalls('2026-01-03', 1)).toBe(0)
      expect(await store.restCallDays('', 9)).toEqual(['2026-01-03'])
    })

    test('forgets the writers of a day that is gone', async () => {
      const store = open()
      const batch = { writer: 'a', sequence: 1, calls: [calls({ day: '2026-01-01' })] }
      await store.addRestCalls(batch)
      await store.addRestCalls(batch)
      expect(await store.restCallsOf(['2026-01-01'])).toMatchObject([{ count: 1 }])
      await store.removeRestCalls('2026-01-02', 9)
      expect(await store.restCallDays('', 9)).toEqual([])
      await store.addRestCalls(batch)
      expect(await store.restCallsOf(['2026-01-01'])).toMatchObject([{ count: 1 }])
    })
  })
}
