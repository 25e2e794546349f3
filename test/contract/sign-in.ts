// The contract suite of sign-in by code and of registered clients: every sentence of their contracts, on each adapter.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import type { CarriedReads } from '../../src/store/cutover/carried-tables.ts'
import type { StoredClient } from '../../src/store/sign-in/client-contract.ts'
import type { CodeRequest, CodeRules } from '../../src/store/sign-in/code-contract.ts'
import type { EditableStore } from '../../src/store/workspace-edits.ts'
import { ANA, BEN, NOW, put } from './values.ts'

const HOME = '192.0.2.1'
const TTL_MS = 600_000
const HOUR_MS = 3_600_000

const RULES: CodeRules = {
  windowMs: HOUR_MS,
  codeTtlMs: TTL_MS,
  knownNetworkTtlMs: 1_000 * HOUR_MS,
  isForKnownUsersOnly: false,
  maxPerAddressAndNetwork: 3,
  maxPerAddress: 5,
  maxPerNetwork: 4,
  maxTotal: 12,
}

type SignInStore = EditableStore & CarriedReads

export function describeSignIn(
  name: string,
  open: () => Promise<{ store: SignInStore; reopen: () => Promise<Store> }>,
): void {
  describe(`sign-in by code on ${name}`, () => {
    let store: SignInStore
    let reopen: () => Promise<Store>
    let count = 0

    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      reopen = opened.reopen
      await store.addSigningKey({ kid: 'k', privateJwk: '{}', createdAt: NOW }, null)
      return () => store[Symbol.asyncDispose]()
    })

    function newRequest(request: Partial<CodeRequest> = {}): CodeRequest {
      count += 1
      const id = String(count).padStart(9, '0')
      return {
        id,
        email: ANA,
        network: HOME,
        agent: 'curl',
        kid: 'k',
        codeHash: `hash of ${id}`,
        isEligible: true,
        askedAt: NOW,
        ...request,
      }
    }

    /** Adds requests and decides on them; returns the outcomes in order. */
    async function ask(requests: readonly CodeRequest[], now = NOW, rules = RULES): Promise<readonly string[]> {
      await store.addCodeRequests(requests)
      const decided = await store.decideCodeRequests(rules, now, 1_000)
      expect(decided.map(({ id }) => id)).toEqual(requests.map(({ id }) => id))
      return decided.map(({ outcome }) => outcome)
    }

    async function codesInOutbox(now = NOW): Promise<readonly string[]> {
      const mails = await store.leaseMails({ owner: 'a test', leaseMs: 1, limit: 1_000 }, now)
      return mails.map(({ id }) => id).toSorted()
    }

    const guess = (request: CodeRequest, codeHash = request.codeHash, now = NOW) =>
      store.tryCode({ id: request.id, codeHash }, now)

    test('a request is decided on once, the oldest first, and survives a reopening until then', async () => {
      const [first, second, third] = [newRequest(), newRequest({ email: BEN }), newRequest({ network: '192.0.2.2' })]
      await store.addCodeRequests([third, second, first])
      await using other = await reopen()
      expect((await other.decideCodeRequests(RULES, NOW, 1)).map(({ id }) => id)).toEqual([first.id])
      expect((await store.decideCodeRequests(RULES, NOW, 5)).map(({ id }) => id)).toEqual([second.id, third.id])
      expect(await store.decideCodeRequests(RULES, NOW, 5)).toEqual([])
      expect(await codesInOutbox()).toEqual([first.id, second.id, third.id])
    })

    test('calls at once decide on as many requests as each of them asks for, and together keep to the limits', async () => {
      await using other = await reopen()
      const requests = Array.from({ length: 10 }, (_, index) => newRequest({ network: `198.51.100.${index}` }))
      await store.addCodeRequests(requests)
      const decided = await Promise.all(
        requests.map((_, index) => (index % 2 ? store : other).decideCodeRequests(RULES, NOW, 1)),
      )
      expect(
        decided
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(requests.map(({ id }) => id))
      expect(decided.flat().filter(({ outcome }) => outcome === 'mailed')).toHaveLength(RULES.maxPerAddress)
    })

    test('a repeated request joins the pending one: ten requests are one mail, and the first code counts', async () => {
      const requests = Array.from({ length: 10 }, () => newRequest())
      expect(await ask(requests.slice(0, 5))).toEqual(['mailed', 'joined', 'joined', 'joined', 'joined'])
      expect(new Set(await ask(requests.slice(5)))).toEqual(new Set(['joined']))
      expect(await codesInOutbox()).toHaveLength(1)
      const pending = await store.pendingSignIn(ANA, HOME, NOW)
      expect(pending).toEqual({ id: requests[0]?.id, kid: 'k', triesLeft: 5, expiresAt: NOW + TTL_MS })
    })

    test('an expired sign-in is joined by no request, and no mail is sent if none is allowed', async () => {
      await ask([newRequest()])
      expect(await ask([newRequest()], NOW + TTL_MS - 1)).toEqual(['joined'])
      expect(await ask([newRequest()], NOW + TTL_MS)).toEqual(['mailed'])
      expect(await ask([newRequest({ network: '192.0.2.2' })], NOW, { ...RULES, maxPerAddressAndNetwork: 0 })).toEqual([
        'refused',
      ])
    })

    test('the first sign-in of an address from a network begins the limit of the pair again, and the next does not', async () => {
      const rules = { ...RULES, maxPerAddressAndNetwork: 1 }
      const [first, second] = [newRequest(), newRequest()]
      expect(await ask([first], NOW, rules)).toEqual(['mailed'])
      expect(await guess(first)).toBe('right')
      expect(await ask([second], NOW, rules)).toEqual(['mailed'])
      expect(await guess(second)).toBe('right')
      expect(await ask([newRequest()], NOW, rules)).toEqual(['refused'])
    })

    test('when a clock that was ahead is set back, the next request gets a mail, and limits begin again', async () => {
      const ahead = NOW + 2 * HOUR_MS
      const rules = { ...RULES, maxPerAddressAndNetwork: 1 }
      expect(await ask([newRequest()], ahead, rules)).toEqual(['mailed'])
      expect(await ask([newRequest(), newRequest()], NOW, rules)).toEqual(['mailed', 'joined'])
      expect(await ask([newRequest()], NOW + TTL_MS, rules)).toEqual(['refused'])
      expect(await ask([newRequest()], NOW + HOUR_MS, rules)).toEqual(['mailed'])
    })

    test('a gateway whose clock is behind by seconds keeps to what another gateway has decided', async () => {
      const rules = { ...RULES, maxPerAddressAndNetwork: 1 }
      expect(await ask([newRequest()], NOW + 30_000, rules)).toEqual(['mailed'])
      expect(await ask([newRequest()], NOW, rules)).toEqual(['joined'])
      const code = await store.pendingSignIn(ANA, HOME, NOW)
      for (let tries = 0; tries < 5; tries += 1) await store.tryCode({ id: code?.id ?? '', codeHash: 'wrong' }, NOW)
      expect(await ask([newRequest()], NOW, rules)).toEqual(['refused'])
    })

    test('a sign-in is pending only for its own address and network, and only for its time', async () => {
      await ask([newRequest()])
      expect(await store.pendingSignIn(BEN, HOME, NOW)).toBeNull()
      expect(await store.pendingSignIn(ANA, '192.0.2.2', NOW)).toBeNull()
      expect(await store.pendingSignIn(ANA, HOME, NOW + TTL_MS - 1)).not.toBeNull()
      expect(await store.pendingSignIn(ANA, HOME, NOW + TTL_MS)).toBeNull()
    })

    test('a sign-in from before the clock was set back ends with the next decision, and stays invalid', async () => {
      const request = newRequest()
      await ask([request])
      // The clocks of gateways may differ by a minute.
      await ask([newRequest({ email: BEN })], NOW - 60_000)
      expect(await store.pendingSignIn(ANA, HOME, NOW)).not.toBeNull()
      await ask([newRequest({ email: BEN })], NOW - 60_001)
      expect(await store.pendingSignIn(ANA, HOME, NOW)).toBeNull()
      expect(await guess(request)).toBe('spent')
    })

    test('a mail from before the clock was set back is dropped with the next decision, and no other is', async () => {
      const ahead = NOW + 2 * HOUR_MS
      const [old, near, newer] = [newRequest(), newRequest({ email: BEN }), newRequest()]
      await ask([old], ahead)
      // The clocks of gateways may differ by a minute.
      await ask([near], NOW + 60_000)
      await ask([newer])
      expect(await codesInOutbox(NOW + 60_000)).toEqual([near.id, newer.id])
      expect(await codesInOutbox(ahead)).toEqual([])
    })

    test('a right code is accepted once, and only in its time', async () => {
      const [request, late] = [newRequest(), newRequest({ email: BEN })]
      await ask([request, late])
      expect(await guess(request)).toBe('right')
      expect(await guess(request)).toBe('spent')
      expect(await guess(late, late.codeHash, NOW + TTL_MS)).toBe('spent')
      expect(await store.tryCode({ id: 'unknown', codeHash: 'x' }, NOW)).toBe('spent')
    })

    test('only one of many right codes at once is accepted', async () => {
      const request = newRequest()
      await ask([request])
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => guess(request)))
      expect(outcomes.filter((outcome) => outcome === 'right')).toHaveLength(1)
    })

    test('of many wrong codes at once, five are compared, and then the right one comes too late', async () => {
      const request = newRequest()
      await ask([request])
      const outcomes = await Promise.all(Array.from({ length: 400 }, (_, index) => guess(request, `wrong ${index}`)))
      expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(5)
      expect(await guess(request)).toBe('spent')
      expect((await store.pendingSignIn(ANA, HOME, NOW))?.triesLeft).toBe(0)
    })

    test('a sign-in without tries left is replaced by the next request, with another mail', async () => {
      const [first, second] = [newRequest(), newRequest()]
      await ask([first])
      for (let tries = 0; tries < 5; tries += 1) await guess(first, 'wrong')
      expect(await ask([second])).toEqual(['mailed'])
      expect(await guess(first)).toBe('spent')
      expect(await guess(second)).toBe('right')
    })

    test('a sign-in whose signing key was removed is replaced, once the request has a key that is left', async () => {
      const [first, second] = [newRequest(), newRequest({ kid: 'next' })]
      expect(await ask([first])).toEqual(['mailed'])
      await store.addSigningKey({ kid: 'next', privateJwk: '{}', createdAt: NOW + 1 }, 'k')
      expect(await ask([newRequest({ kid: 'next' })])).toEqual(['joined'])
      await store.removeSigningKey('k')
      expect(await ask([newRequest()])).toEqual(['refused'])
      expect(await ask([second])).toEqual(['mailed'])
      expect([await guess(first), await guess(second)]).toEqual(['spent', 'right'])
    })

    test('a refused request leaves a pending sign-in that no code fits', async () => {
      const refused = newRequest({ isEligible: false })
      expect(await ask([refused])).toEqual(['refused'])
      expect(await codesInOutbox()).toEqual([])
      expect(await store.pendingSignIn(ANA, HOME, NOW)).toMatchObject({ id: refused.id, triesLeft: 5 })
      expect(await guess(refused)).toBe('wrong')
      expect(await ask([newRequest({ isEligible: false })])).toEqual(['refused'])
      expect(await store.pendingSignIn(ANA, HOME, NOW)).toMatchObject({ id: refused.id, triesLeft: 4 })
    })

    test('if only known users get mails, others get none', async () => {
      await store.applyChanges([put({ email: ANA })])
      const rules = { ...RULES, isForKnownUsersOnly: true }
      expect(await ask([newRequest(), newRequest({ email: BEN })], NOW, rules)).toEqual(['mailed', 'refused'])
    })

    test('quotas hold for an address from one network, an address, a network and in total, for a window', async () => {
      const spent = async (requests: readonly CodeRequest[], now = NOW) => {
        const outcomes = await ask(requests, now)
        return outcomes.filter((outcome) => outcome === 'mailed').length
      }
      for (let mails = 0; mails < 3; mails += 1) {
        const request = newRequest()
        expect(await ask([request])).toEqual(['mailed'])
        for (let tries = 0; tries < 5; tries += 1) await guess(request, 'wrong')
      }
      expect(await ask([newRequest()]), 'address and network').toEqual(['refused'])
      const fromAnywhere = Array.from({ length: 8 }, (_, index) => newRequest({ network: `198.51.100.${index}` }))
      expect(await spent(fromAnywhere), 'address').toBe(RULES.maxPerAddress - 3)
      const toAnyone = Array.from({ length: 8 }, (_, index) => newRequest({ email: `u${index}@example.com` }))
      expect(await spent(toAnyone), 'network').toBe(RULES.maxPerNetwork - 3)
      const scattered = Array.from({ length: 12 }, (_, index) =>
        newRequest({ email: `v${index}@example.com`, network: `203.0.113.${index}` }),
      )
      expect(await spent(scattered), 'total').toBe(RULES.maxTotal - 6)
      expect(await spent([newRequest({ askedAt: NOW + HOUR_MS })], NOW + HOUR_MS), 'later').toBe(1)
      const next = Array.from({ length: 8 }, (_, index) => newRequest({ network: `198.51.100.${index}` }))
      expect(await spent(next, NOW + HOUR_MS), 'counted anew').toBe(RULES.maxPerAddress - 1)
    })

    test('addresses that differ only after a plus sign share the quota of an address, and other addresses do not', async () => {
      const rules = { ...RULES, maxPerAddress: 2, maxPerNetwork: 100 }
      const emails = ['ana+1@example.com', 'ana+2@example.com', 'ana+2+3@example.com', ANA]
      expect(
        await ask(
          emails.map((email) => newRequest({ email })),
          NOW,
          rules,
        ),
      ).toEqual(['mailed', 'mailed', 'refused', 'refused'])
      const others = ['an@example.com', 'ana@example.org', 'ana.1@example.com', '+1@example.com', '+2@example.com']
      expect(
        new Set(
          await ask(
            others.map((email) => newRequest({ email })),
            NOW,
            rules,
          ),
        ),
      ).toEqual(new Set(['mailed']))
    })

    test('a network that signed in before has a quota that strangers cannot use up, until it is forgotten', async () => {
      const first = newRequest()
      await ask([first])
      expect(await guess(first)).toBe('right')
      const strangers = Array.from({ length: 30 }, (_, index) => newRequest({ network: `198.51.100.${index}` }))
      await ask(strangers)
      const [again, elsewhere] = [newRequest(), newRequest({ network: '203.0.113.1' })]
      expect(await ask([again, elsewhere])).toEqual(['mailed', 'refused'])
      expect(await guess(again)).toBe('right')
      const short = { ...RULES, knownNetworkTtlMs: 0 }
      expect(await ask([newRequest()], NOW, short)).toEqual(['refused'])
    })

    test('a mail to a network that signed in before does not wait for the mails of strangers', async () => {
      const rules = { ...RULES, maxPerNetwork: 100, maxTotal: 100 }
      const first = newRequest()
      await ask([first], NOW, rules)
      expect(await guess(first)).toBe('right')
      await codesInOutbox()
      const strangers = Array.from({ length: 20 }, (_, index) => newRequest({ email: `u${index}@example.com` }))
      await ask(strangers, NOW + 1, rules)
      const again = newRequest()
      await ask([again], NOW + TTL_MS, rules)
      const [next] = await store.leaseMails({ owner: 'a test', leaseMs: 1, limit: 1 }, NOW + TTL_MS)
      expect(next?.id).toBe(again.id)
    })

    test('a mail to a network that asked for few does not wait for the mails of a network that asked for many', async () => {
      const rules = { ...RULES, maxPerNetwork: 100, maxTotal: 200 }
      const askFrom = async (network: string, length: number, now: number) => {
        const requests = Array.from({ length }, (_, index) => newRequest({ network, email: `u${index}@example.com` }))
        await ask(requests, now, rules)
        return requests.map(({ id }) => id)
      }
      const many = await askFrom('198.51.100.1', 100, NOW)
      const few = await askFrom('203.0.113.1', 3, NOW + 60_000)
      const leased: string[] = []
      for (;;) {
        const [next] = await store.leaseMails({ owner: 'a test', leaseMs: TTL_MS, limit: 1 }, NOW + 60_000)
        if (!next) break
        leased.push(next.id)
      }
      expect(leased.toSorted()).toEqual([...many, ...few].toSorted())
      // A hundred mails are spread over ten minutes, so ten of them are due within the first one.
      expect(leased.indexOf(few[0] ?? '')).toBeLessThan(12)
      expect(leased.indexOf(few[2] ?? '')).toBeLessThan(16)
      expect(leased.filter((id) => many.includes(id))).toEqual(many)
    })

    test('a network is known from its last sign-in on', async () => {
      const rules = { ...RULES, knownNetworkTtlMs: 100 }
      for (const at of [NOW, NOW + 90]) {
        const request = newRequest()
        await ask([request], at, rules)
        expect(await guess(request, request.codeHash, at)).toBe('right')
      }
      expect(await ask([newRequest()], NOW + 150, { ...rules, maxPerAddress: 0 })).toEqual(['mailed'])
    })

    test('only the newest networks of an address are known', async () => {
      const rules = { ...RULES, maxPerAddress: 100, maxTotal: 100 }
      const networkOf = (index: number) => `198.51.100.${index}`
      for (let index = 0; index < 21; index += 1) {
        const request = newRequest({ network: networkOf(index) })
        await ask([request], NOW, rules)
        expect(await guess(request, request.codeHash, NOW + index)).toBe('right')
      }
      const full = { ...RULES, maxPerAddress: 0 }
      const again = [networkOf(0), networkOf(1), networkOf(20)].map((network) => newRequest({ network }))
      expect(await ask(again, NOW, full)).toEqual(['refused', 'mailed', 'mailed'])
    })

    describe('a user who is removed or renamed', () => {
      const networksKnown = async () => (await store.carriedRowsAfter('known_network', '', 1_000)).length
      const full = { ...RULES, maxPerAddress: 0 }

      test.each<[how: string, leave: () => unknown]>([
        ['a command', () => store.removeUsers(['nobody@example.com', ANA])],
        ['an import', () => store.applyChanges([{ type: 'removeUser', email: ANA }])],
        ['a rename', () => store.renameUser(ANA, 'new@example.com')],
      ])('is known on no network after %s, and other users still are', async (_how, leave) => {
        await store.applyChanges([put()])
        const requests = [
          newRequest(),
          newRequest({ network: '192.0.2.2' }),
          newRequest({ email: BEN }),
          newRequest({ email: 'new@example.com' }),
        ]
        await ask(requests)
        for (const request of requests) expect(await guess(request)).toBe('right')
        expect(await networksKnown()).toBe(4)
        await leave()
        expect(await networksKnown()).toBe(2)
        const again = [ANA, BEN, 'new@example.com'].map((email) => newRequest({ email }))
        expect(await ask(again, NOW, full)).toEqual(['refused', 'mailed', 'mailed'])
      })

      test('is known on no network, even without a workspace', async () => {
        const request = newRequest()
        await ask([request])
        expect(await guess(request)).toBe('right')
        expect(await store.removeUsers([ANA])).toEqual([null])
        expect(await networksKnown()).toBe(0)
      })
    })

    test('a mail has one sender as long as its lease lasts, and another one after that', async () => {
      await ask([newRequest(), newRequest({ email: BEN })])
      const lease = (owner: string, now: number) => store.leaseMails({ owner, leaseMs: 100, limit: 10 }, now)
      await using other = await reopen()
      const leased = await Promise.all([
        lease('a', NOW),
        other.leaseMails({ owner: 'b', leaseMs: 100, limit: 10 }, NOW),
      ])
      expect(leased.flat()).toHaveLength(2)
      expect(await lease('c', NOW + 99)).toEqual([])
      const taken = await lease('c', NOW + 100)
      expect(taken.map(({ attempts }) => attempts)).toEqual([2, 2])
      expect(taken.find(({ email }) => email === BEN)).toMatchObject({
        network: HOME,
        agent: 'curl',
        kid: 'k',
        askedAt: NOW,
        expiresAt: NOW + TTL_MS,
      })
    })

    test('a settled mail is gone, or due later; a sender that lost the lease settles nothing', async () => {
      const [sent, failed, open] = [newRequest(), newRequest({ email: BEN }), newRequest({ network: '192.0.2.2' })]
      await ask([sent, failed, open])
      const lease = (owner: string, now: number) => store.leaseMails({ owner, leaseMs: 100, limit: 10 }, now)
      await lease('a', NOW)
      await lease('b', NOW + 100)
      await store.settleMails('a', [
        { id: sent.id, dueAt: null, isGivenUp: false },
        { id: failed.id, dueAt: NOW + 100, isGivenUp: false },
      ])
      expect(await lease('c', NOW + 199)).toEqual([])
      await store.settleMails('b', [
        { id: sent.id, dueAt: null, isGivenUp: false },
        { id: failed.id, dueAt: NOW + 500, isGivenUp: false },
      ])
      expect((await lease('c', NOW + 200)).map(({ id }) => id)).toEqual([open.id])
      await store.settleMails('c', [{ id: open.id, dueAt: null, isGivenUp: false }])
      expect(await lease('c', NOW + 499)).toEqual([])
      expect((await lease('c', NOW + 500)).map(({ id }) => id)).toEqual([failed.id])
    })

    test('an expired mail is removed even if it is leased and no other one is due', async () => {
      await ask([newRequest()])
      await store.leaseMails({ owner: 'a', leaseMs: 2 * TTL_MS, limit: 1 }, NOW)
      const left = async (now: number) => {
        await store.leaseMails({ owner: 'b', leaseMs: 1, limit: 1 }, now)
        return (await store.carriedRowsAfter('outbox', '', 9)).length
      }
      expect([await left(NOW + TTL_MS - 1), await left(NOW + TTL_MS)]).toEqual([1, 0])
    })

    test('after a mail was given up by the holder of its lease, the next request gets another one, within the limits', async () => {
      const [first, other] = [newRequest(), newRequest({ email: BEN })]
      await ask([first, other])
      const lease = (now: number) => store.leaseMails({ owner: 'a', leaseMs: 100, limit: 10 }, now)
      const givenUp = { id: first.id, dueAt: null, isGivenUp: true }
      await lease(NOW)
      await store.settleMails('b', [givenUp])
      expect(await ask([newRequest()])).toEqual(['joined'])
      await store.settleMails('a', [givenUp, { id: other.id, dueAt: null, isGivenUp: false }])
      const second = newRequest()
      expect(await ask([second, newRequest({ email: BEN })])).toEqual(['mailed', 'joined'])
      expect((await lease(NOW)).map(({ id }) => id)).toEqual([second.id])
      await store.settleMails('a', [{ id: second.id, dueAt: null, isGivenUp: true }])
      expect(await ask([newRequest()], NOW, { ...RULES, maxPerAddressAndNetwork: 2 })).toEqual(['refused'])
      expect([await guess(first), await guess(second)]).toEqual(['spent', 'right'])
    })

    test('a removal of a person who only asked for a code finds no data, and removes the request', async () => {
      const mine = newRequest({ email: BEN })
      await ask([mine, newRequest()])
      const before = await codesInOutbox()
      expect(await store.removeUsers([BEN])).toEqual([null])
      const pending = await store.carriedRowsAfter('pending_sign_in', '', 1_000)
      expect(pending.flat()).toContain(ANA)
      expect(pending.flat()).not.toContain(BEN)
      expect(before).toContain(mine.id)
      expect(await guess(mine)).toBe('spent')
    })

    test('a mail whose code has expired is dropped', async () => {
      await ask([newRequest()])
      expect(await codesInOutbox(NOW + TTL_MS)).toEqual([])
      expect(await codesInOutbox(NOW)).toEqual([])
    })

    test('what has expired is removed with the next decision, and nothing else', async () => {
      const rowsOf = async (table: 'pending_sign_in' | 'mail_quota') =>
        (await store.carriedRowsAfter(table, '', 1_000)).length
      await ask([newRequest(), newRequest({ email: BEN })])
      const quotas = await rowsOf('mail_quota')
      expect([await rowsOf('pending_sign_in'), quotas]).toEqual([2, 6])
      await ask([newRequest({ network: '198.51.100.1' })], NOW + TTL_MS - 1)
      expect(await rowsOf('pending_sign_in')).toBe(3)
      await ask([newRequest({ network: '198.51.100.2' })], NOW + TTL_MS)
      expect(await rowsOf('pending_sign_in')).toBe(2)
      await ask([newRequest({ email: 'eve@example.com', network: '198.51.100.3' })], NOW + 3 * HOUR_MS)
      expect([await rowsOf('pending_sign_in'), await rowsOf('mail_quota')]).toEqual([1, 4])
    })

    test('a forgotten network of any user is removed with the next decision, and a known one stays', async () => {
      const networksKnown = async () => (await store.carriedRowsAfter('known_network', '', 1_000)).length
      const [old, newer] = [newRequest(), newRequest({ network: '192.0.2.2' })]
      await ask([old, newer])
      expect(await guess(old)).toBe('right')
      expect(await guess(newer, newer.codeHash, NOW + 1)).toBe('right')
      const forgottenAt = NOW + RULES.knownNetworkTtlMs
      await ask([newRequest({ email: BEN })], forgottenAt - 1)
      expect(await networksKnown()).toBe(2)
      await ask([newRequest({ email: BEN })], forgottenAt)
      expect(await networksKnown()).toBe(1)
      const full = { ...RULES, maxPerAddress: 0 }
      const again = [newRequest(), newRequest({ network: '192.0.2.2' })]
      expect(await ask(again, forgottenAt, full)).toEqual(['refused', 'mailed'])
    })

    test('quotas hold when several gateways decide at once', async () => {
      await using other = await reopen()
      const requests = Array.from({ length: 60 }, (_, index) => newRequest({ network: `198.51.100.${index}` }))
      await Promise.all(
        [store, other, store, other].map(async (one, index) => {
          await one.addCodeRequests(requests.slice(index * 15, index * 15 + 15))
          while ((await one.decideCodeRequests(RULES, NOW, 4)).length > 0);
        }),
      )
      expect(await codesInOutbox()).toHaveLength(RULES.maxPerAddress)
    })
  })

  describe(`registered clients on ${name}`, () => {
    const BILLING: StoredClient = {
      name: 'billing',
      secretHash: 'hash',
      domains: ['example.com', 'example.org'],
      scopes: ['login'],
      perMinute: 60,
      createdAt: NOW,
    }

    test('are added once, listed by name, and removed once', async () => {
      const { store } = await open()
      await using _ = store
      const shop = { ...BILLING, name: 'a-shop', domains: ['*'] }
      expect(await store.addClient(BILLING)).toBe(true)
      expect(await store.addClient({ ...BILLING, secretHash: 'other' })).toBe(false)
      expect(await store.addClient(shop)).toBe(true)
      expect(await store.clients()).toEqual([shop, BILLING])
      expect(await store.clientByName('billing')).toEqual(BILLING)
      expect(await store.clientByName('Billing')).toBeNull()
      expect(await store.removeClient('billing')).toBe(true)
      expect(await store.removeClient('billing')).toBe(false)
      expect(await store.clientByName('billing')).toBeNull()
    })
  })
}
