// The contract suite of the store's part about the audit log.
import { describe, expect, test } from 'vitest'
import type { AuditFilter, NewAuditEntry } from '../../src/store/audit-contract.ts'
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

export function describeAuditLog(open: () => Store): void {
  describe('the audit log', () => {
    test('answers what was written in that order, page by page', async () => {
      const store = open()
      const written = [entry({ detail: 'a' }), entry({ detail: 'b', at: NOW - 5 }), entry({ detail: 'c', count: 7 })]
      await store.addAuditEntries(written.slice(0, 2))
      await store.addAuditEntries(written.slice(2))
      const first = await store.auditEntries(ALL, 0, 2)
      const rest = await store.auditEntries(ALL, first.at(-1)?.id ?? 0, 2)
      expect([...first, ...rest].map(({ id: _, ...found }) => found)).toEqual(written)
    })

    test('is filtered by time, kind and whoever it is about', async () => {
      const store = open()
      await store.addAuditEntries([
        entry({ at: 1, who: 'a' }),
        entry({ at: 2, kind: 'logout', who: 'b' }),
        entry({ at: 3, who: 'c' }),
      ])
      const times = async (filter: Partial<AuditFilter>) =>
        (await store.auditEntries({ ...ALL, ...filter }, 0, 9)).map(({ at }) => at)
      expect(await times({ from: 2 })).toEqual([2, 3])
      expect(await times({ to: 2 })).toEqual([1])
      expect(await times({ kind: 'login' })).toEqual([1, 3])
      expect(await times({ who: ['b', 'c'] })).toEqual([2, 3])
      expect(await times({ from: 2, kind: 'login', who: ['a', 'c'] })).toEqual([3])
      expect(await times({ who: [] })).toEqual([])
    })

    test('loses what is old, a part at a time, and nothing else', async () => {
      const store = open()
      await store.addAuditEntries([1, 2, 3, 4].map((at) => entry({ at })))
      expect(await store.removeAuditEntries(4, 2)).toBe(2)
      expect(await store.removeAuditEntries(4, 2)).toBe(1)
      expect(await store.removeAuditEntries(4, 2)).toBe(0)
      expect((await store.auditEntries(ALL, 0, 9)).map(({ at }) => at)).toEqual([4])
    })

    test('has a salt of its own, which stays', async () => {
      const store = open()
      expect(await store.auditSalt()).toMatch(/^[0-9a-f]{32}$/)
      expect(await store.auditSalt()).toBe(await store.auditSalt())
    })
  })
}
