// Tests the bounds that the store applies by itself: parts of pages, clients per day, mails per window, and new
// folders.
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StoreFaultError } from '../../src/store/contract.ts'
import { MAX_ITEMS_WITHIN } from '../../src/store/reads-contract.ts'
import { CLIENTS_PER_DAY, OTHER_CLIENT, withinBounds } from '../../src/store/rest-call-contract.ts'
import { MAX_CODE_TRIES } from '../../src/store/sign-in/code-contract.ts'
import {
  type DecisionState,
  decideRequests,
  knownNetworkKey,
  type PendingRow,
  quotaKeysOf,
} from '../../src/store/sign-in/decide-code-requests.ts'
import { makeDirectories } from '../../src/store/sqlite/engine/files/make-directories.ts'
import { partWithin } from '../../src/store/sqlite/engine/items-within.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const NOW = 1_000_000

test('a part of a page ends with the item that exceeds the byte limit, or at the maximum number of items', () => {
  const sizes = [10, 20, 30].map((byteLength, index) => ({ byteLength, position: index + 5 }))
  const ends = (first: number, last: number) => [first, last]
  const part = (maxBytes: number, limit: number | null = null) =>
    partWithin({ after: 0, maxBytes, limit }, () => sizes, ends)
  expect(part(9)).toEqual({ items: [5, 5], isCut: true })
  expect(part(10)).toEqual({ items: [5, 6], isCut: true })
  expect(part(29)).toEqual({ items: [5, 6], isCut: true })
  expect(part(30)).toEqual({ items: [5, 7], isCut: false })
  expect(part(0, 1)).toEqual({ items: [5, 5], isCut: false })
  expect(part(100, 2)).toEqual({ items: [5, 6], isCut: false })
  expect(part(100, 0)).toEqual({ items: [], isCut: false })
  expect(partWithin({ after: 0, maxBytes: 1, limit: null }, () => [], ends)).toEqual({ items: [], isCut: false })
  const fromEnd = { after: 0, maxBytes: 1, limit: null, fromEnd: true }
  expect(partWithin(fromEnd, () => sizes.toReversed(), ends)).toEqual({ items: [7, 7], isCut: true })
  expect(partWithin({ ...fromEnd, maxBytes: 30 }, () => sizes.toReversed(), ends)).toEqual({
    items: [6, 7],
    isCut: true,
  })
  const many = (count: number) => Array.from({ length: count }, (_, position) => ({ position, byteLength: 0 }))
  for (const [count, isCut] of [
    [MAX_ITEMS_WITHIN, false],
    [MAX_ITEMS_WITHIN + 1, true],
  ] as const) {
    const found = partWithin({ after: 0, maxBytes: 1, limit: null }, () => many(count), ends)
    expect(found).toEqual({ items: [0, MAX_ITEMS_WITHIN - 1], isCut })
  }
})

test('a day has a limited number of client rows, known and new ones alike; the rest is counted together', () => {
  const call = (client: string, count = 1, day = '2026-01-01', lastSeen = 5) => ({
    day,
    route: 'GET /projects',
    client,
    count,
    lastSeen,
  })
  const known = Array.from({ length: CLIENTS_PER_DAY - 1 }, (_, at) => ({ day: '2026-01-01', client: `known ${at}` }))
  const rows = withinBounds(
    [
      call(OTHER_CLIENT, 100),
      call('last to have room', 2),
      call('too late', 3, '2026-01-01', 9),
      call('too late as well', 4, '2026-01-01', 7),
      call('known 3', 5),
      call('last to have room', 6, '2026-01-01', 4),
      call('too late', 7, '2026-01-02'),
    ],
    known,
  )
  expect(rows.map(({ day, client, count, lastSeen }) => [day, client, count, lastSeen])).toEqual([
    ['2026-01-01', OTHER_CLIENT, 107, 9],
    ['2026-01-01', 'last to have room', 8, 5],
    ['2026-01-01', 'known 3', 5, 5],
    ['2026-01-02', 'too late', 7, 5],
  ])
})

const RULES = {
  windowMs: 1_000,
  codeTtlMs: 100,
  knownNetworkTtlMs: 10_000,
  isForKnownUsersOnly: false,
  maxPerAddressAndNetwork: 2,
  maxPerAddress: 2,
  maxPerNetwork: 2,
  maxTotal: 2,
}
const REQUEST = {
  id: 'r',
  email: 'ana@example.com',
  network: '192.0.2.1',
  agent: 'curl',
  kid: 'k',
  codeHash: 'h',
  isEligible: true,
  askedAt: NOW,
}
const NOTHING: DecisionState = {
  pending: [],
  quotas: [],
  knownNetworks: new Set(),
  users: new Set(),
  kids: new Set([REQUEST.kid]),
}

const decide = (state: Partial<DecisionState> = {}, rules = RULES, request = REQUEST) => {
  const { decided, pending, quotas, mailed } = decideRequests([request], { ...NOTHING, ...state }, rules, NOW)
  return {
    outcome: decided[0]?.outcome,
    row: pending[0] && [pending[0].codeHash, pending[0].isMailed, pending[0].tries, pending[0].expiresAt],
    quotas: quotas.map(({ used, endsAt }) => [used, endsAt]),
    mails: mailed.length,
  }
}

test('a request is charged to four quotas, or to a single one if its network is known', () => {
  const mailed = { outcome: 'mailed', row: ['h', true, 0, NOW + 100], mails: 1 }
  expect(decide()).toEqual({ ...mailed, quotas: Array(4).fill([1, NOW + 1_000]) })
  const knownNetworks = new Set([knownNetworkKey(REQUEST)])
  expect(decide({ knownNetworks })).toEqual({ ...mailed, quotas: [[1, NOW + 1_000]] })
})

test('a quota has room up to its limit and again when its window is over; a limit of zero never has room', () => {
  const refused = { outcome: 'refused', row: ['', false, 0, NOW + 100], quotas: [], mails: 0 }
  for (const key of quotaKeysOf(REQUEST).slice(1)) {
    const quota = (used: number, endsAt: number) => decide({ quotas: [{ key, used, endsAt }] })
    expect(quota(2, NOW + 1)).toEqual(refused)
    expect(quota(2, NOW).outcome).toBe('mailed')
    expect(quota(1, NOW + 1)).toMatchObject({ outcome: 'mailed', mails: 1 })
    expect(quota(1, NOW + 1).quotas).toContainEqual([2, NOW + 1])
    expect(quota(1, NOW).quotas).toEqual(Array(4).fill([1, NOW + 1_000]))
  }
  for (const name of ['maxPerAddressAndNetwork', 'maxPerAddress', 'maxPerNetwork', 'maxTotal'] as const) {
    expect(decide({}, { ...RULES, [name]: 0 })).toEqual(refused)
  }
})

test('a request joins a mail that is still valid; if none was sent, the request is decided again', () => {
  const row: PendingRow = { ...REQUEST, id: 'before', isMailed: true, tries: 0, expiresAt: NOW + 1 }
  const after = (changed: Partial<PendingRow>, request = REQUEST) =>
    decide({ pending: [{ ...row, ...changed }] }, RULES, request)
  const joined = { outcome: 'joined', row: undefined, quotas: [], mails: 0 }
  expect(after({})).toEqual(joined)
  expect(after({ tries: MAX_CODE_TRIES - 1 })).toEqual(joined)
  expect(after({ tries: MAX_CODE_TRIES }).outcome).toBe('mailed')
  expect(after({ expiresAt: NOW }).outcome).toBe('mailed')
  expect(after({ isMailed: false }).outcome).toBe('mailed')
  expect(after({ network: 'another' }).outcome).toBe('mailed')
  // Refused again while the row of the first refusal is valid: that row stays unchanged.
  const ineligible = { ...REQUEST, isEligible: false }
  expect(after({ isMailed: false }, ineligible)).toEqual({ outcome: 'refused', row: undefined, quotas: [], mails: 0 })
  expect(after({ isMailed: false, expiresAt: NOW }, ineligible)).toMatchObject({ row: ['', false, 0, NOW + 100] })
})

test('with isForKnownUsersOnly, a code is mailed only to a known user whose request is eligible', () => {
  const rules = { ...RULES, isForKnownUsersOnly: true }
  const users = new Set([REQUEST.email])
  expect(decide({}, rules).outcome).toBe('refused')
  expect(decide({ users }, rules).outcome).toBe('mailed')
  expect(decide({ users }, rules, { ...REQUEST, isEligible: false }).outcome).toBe('refused')
})

test('makeDirectories makes a folder and its parents for the owner alone, or throws StoreFaultError', () => {
  const root = temporaryDirectory()
  const deep = join(root, 'a', 'b', 'c')
  makeDirectories(deep)
  expect([join(root, 'a'), deep].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
  chmodSync(deep, 0o755)
  makeDirectories(deep)
  expect(statSync(deep).mode & 0o777).toBe(0o755)
  writeFileSync(join(root, 'file'), '')
  expect(() => makeDirectories(join(root, 'file', 'a'))).toThrow(StoreFaultError)
  expect(existsSync(join(root, 'file', 'a'))).toBe(false)
})
