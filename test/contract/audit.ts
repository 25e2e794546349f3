// The contract suite of the store's audit log.
import { describe, expect, test } from 'vitest'
import type { AuditBatch, AuditFilter, NewAuditEntry } from '../../src/store/audit-contract.ts'
import type { Store } from '../../src/store/contract.ts'
import { NOW } from './values.ts'

const ALL: AuditFilter = { from: null, to: null, kind: null, who: null }

const entry = (changes: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  at: NOW,
  kind: 'login',
  result: 'done',
  who: 'someone',
  network: '192.0.2.0/24',
  detail: '',
  count: 1,
  ...changes,
})

const batch = (sequence: number, entries: readonly NewAuditEntry[]): AuditBatch => ({ writer: 'w', sequence, entries })

export function describeAuditLog(open: () => Store): void {
  describe('the audit log', () => {
    test('returns entries in the order in which they were written, page by page', async () => {
      const store = open()
      const written = [entry({ detail: 'a' }), entry({ detail: 'b', at: NOW - 5 }), entry({ detail: 'c', count: 7 })]
      await store.addAuditEntries(batch(1, written.slice(0, 2)))
      await store.addAuditEntries(batch(2, written.slice(2)))
      const first = await store.auditEntries(ALL, 0, 2)
      const rest = await store.auditEntries(ALL, first.at(-1)?.id ?? 0, 2)
      expect([...first, ...rest].map(({ id: _, ...found }) => found)).toEqual(written)
    })

    test('is filtered by time, kind and the person it is about', async () => {
      const store = open()
      const written = [
        entry({ at: 1, who: 'a' }),
        entry({ at: 2, kind: 'logout', who: 'b' }),
        entry({ at: 3, who: 'c' }),
      ]
      await store.addAuditEntries(batch(1, written))
      const times = async (filter: Partial<AuditFilter>) =>
        (await store.auditEntries({ ...ALL, ...filter }, 0, 9)).map(({ at }) => at)
      expect(await times({ from: 2 })).toEqual([2, 3])
      expect(await times({ to: 2 })).toEqual([1])
      expect(await times({ kind: 'login' })).toEqual([1, 3])
      expect(await times({ who: ['b', 'c'] })).toEqual([2, 3])
      expect(await times({ from: 2, kind: 'login', who: ['a', 'c'] })).toEqual([3])
      expect(await times({ who: [] })).toEqual([])
    })

    test('loses old entries, a part at a time, and no others', async () => {
      const store = open()
      await store.addAuditEntries(
        batch(
          1,
          [1, 2, 3, 4].map((at) => entry({ at })),
        ),
      )
      expect(await store.removeAuditEntries(4, 2)).toBe(2)
      expect(await store.removeAuditEntries(4, 2)).toBe(1)
      expect(await store.removeAuditEntries(4, 2)).toBe(0)
      expect((await store.auditEntries(ALL, 0, 9)).map(({ at }) => at)).toEqual([4])
    })

    test.each(['someone', 'ana@example.com'])('adds a batch about %s once, however often it is sent', async (who) => {
      const store = open()
      const sent = batch(7, [entry({ who }), entry({ who, kind: 'logout' })])
      await store.addAuditEntries(sent)
      await store.addAuditEntries(sent)
      await store.addAuditEntries({ ...sent, sequence: 6 })
      await store.addAuditEntries({ writer: 'another', sequence: 7, entries: [entry({ who, kind: 'refresh' })] })
      // The ledger of REST calls has writers of its own.
      await store.addRestCalls({ writer: 'w', sequence: 8, calls: [] })
      await store.addAuditEntries(batch(8, [entry({ who, count: 2 })]))
      const found = await store.auditEntries(ALL, 0, 9)
      expect(found.map((one) => [one.who, one.kind, one.count])).toEqual([
        [who, 'login', 1],
        [who, 'logout', 1],
        [who, 'refresh', 1],
        [who, 'login', 2],
      ])
    })

    test('forgets the writers of a day that is gone, and no others', async () => {
      const store = open()
      const [old, today] = [batch(1, [entry({ at: 1 })]), { ...batch(1, [entry()]), writer: 'today' }]
      const calls = { day: '1970-01-01', route: 'GET /projects', client: 'web', count: 1, lastSeen: 1 }
      const counted = { writer: 'w', sequence: 1, calls: [calls] }
      await store.addRestCalls(counted)
      for (const sent of [old, today]) await store.addAuditEntries(sent)
      expect(await store.removeAuditEntries(NOW, 9)).toBe(1)
      await store.addRestCalls(counted)
      for (const sent of [old, today]) await store.addAuditEntries(sent)
      expect((await store.auditEntries(ALL, 0, 9)).map(({ at }) => at)).toEqual([NOW, 1])
      expect(await store.restCallsOf([calls.day])).toMatchObject([{ count: 1 }])
    })

    test('keeps the writers of entries when old REST calls are removed', async () => {
      const store = open()
      const old = batch(1, [entry({ at: 1 })])
      await store.addAuditEntries(old)
      await store.removeRestCalls('2100-01-01', 9)
      await store.addAuditEntries(old)
      expect(await store.auditEntries(ALL, 0, 9)).toHaveLength(1)
    })

    test('has its own salt, which stays the same', async () => {
      const store = open()
      expect(await store.auditSalt()).toMatch(/^[0-9a-f]{32}$/)
      expect(await store.auditSalt()).toBe(await store.auditSalt())
    })
  })
}
