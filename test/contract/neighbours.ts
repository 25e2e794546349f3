// The contract suite of users side by side: whatever is written or asked for one of them leaves the other one alone, even if
// everything of the two has the same names.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { dumpUsers } from '../../src/import-export/dump.ts'
import type { Change } from '../../src/store/contract.ts'
import type { CarriedRow } from '../../src/store/cutover/carried-tables.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import type { CodeRequest, CodeRules } from '../../src/store/sign-in/code-contract.ts'
import { knownAddressKey } from '../../src/store/sign-in/decide-code-requests.ts'
import type { ReplacementStep } from '../../src/store/workspace-edits.ts'
import { ANA, BEN, NOW, newSession, put } from './values.ts'

const DAY = (day: number) => ({
  createdAt: `2026-01-0${day}T00:00:00Z`,
  instant: `2026-01-0${day}T00:00:00.000000000Z`,
})
const OTHER_NAME = 'renamed@example.com'
const MAILER = 'a test'
const SIGN_IN_TABLES = ['pending_sign_in', 'outbox', 'known_network'] as const
const RULES: CodeRules = {
  windowMs: 1,
  codeTtlMs: 1_000,
  knownNetworkTtlMs: 1_000,
  isForKnownUsersOnly: false,
  maxPerAddressAndNetwork: 1_000,
  maxPerAddress: 1_000,
  maxPerNetwork: 1_000,
  maxTotal: 1_000,
}

/** What the test keeps of a user to ask for it later. */
interface Neighbour {
  readonly email: string
  readonly userId: number
  readonly sessions: readonly ReturnType<typeof newSession>[]
  /** An export of `r` that is not sealed yet. */
  readonly stage: string
  /** Not tried yet. The user has signed in with another one before, from another network. */
  readonly code: CodeRequest
}

type Write = (store: MigratableStore, subject: Neighbour) => unknown

const exportsRemoved =
  (rule: Partial<Extract<Change, { readonly type: 'removeExports' }>>): Write =>
  (store, { email }) =>
    store.applyChanges([{ type: 'removeExports', email, ref: null, instant: null, digest: null, ...rule }])

/** Gives the user other contents under the same names. */
const replaced =
  (options: { readonly isDryRun?: boolean; readonly keepsExports?: boolean }): Write =>
  async (store, { email }) => {
    const replacement = randomUUID()
    const stage = randomUUID()
    const document = (id: string, ref: string, text: string) =>
      ({ type: 'stageDocument', email, kind: 'project', id, ref, text }) as const
    const steps: readonly ReplacementStep[] = [
      document('q', 'r', '"replaced"'),
      document('p', 'q', '"replaced"'),
      document('n', 'n', '"replaced"'),
      { type: 'stageExport', stage, email, ref: 'r', ...DAY(3) },
      { type: 'stageElements', stage, position: 1, texts: ['"replaced"'] },
      { type: 'sealExport', stage, digest: 'three', byteLength: 12, elementCount: 1 },
    ]
    await store.beginReplacement(replacement, NOW)
    await store.stageReplacement(replacement, steps, NOW)
    const question = { replacement, after: '', maxDocuments: 9, isDryRun: false, now: NOW, ...options }
    // The template goes, and so do the three exports, unless they are kept.
    const removed = options.keepsExports ? 1 : 4
    expect(await store.swapReplacement(question)).toEqual([{ email, added: 2, replaced: 2, unchanged: 0, removed }])
    await store.endReplacement(replacement)
  }

const WRITES: Readonly<Record<string, Write>> = {
  'another text': (store, { email }) => store.applyChanges([put({ email, text: '"other"' })]),
  'another reference, which the exports follow': (store, { email }) =>
    store.applyChanges([put({ email, ref: 'n', text: '"other"' })]),
  'a removed project': (store, { email }) =>
    store.applyChanges([{ type: 'removeDocument', email, kind: 'project', id: 'p' }]),
  'a removed template': (store, { email }) =>
    store.applyChanges([{ type: 'removeDocument', email, kind: 'template', id: 'p' }]),
  'all exports removed': exportsRemoved({}),
  'the exports of a project removed': exportsRemoved({ ref: 'r' }),
  'the exports of a time removed': exportsRemoved({ instant: DAY(1).instant }),
  'the exports of a digest removed': exportsRemoved({ digest: 'one' }),
  'exports pruned by number': (store, { userId }) => store.pruneExports({ userId, keep: 1, before: null, after: '' }),
  'exports pruned by time': (store, { userId }) =>
    store.pruneExports({ userId, keep: 0, before: DAY(2).instant, after: '' }),
  'exports pruned from a reference on': (store, { userId }) =>
    store.pruneExports({ userId, keep: 0, before: null, after: 'q' }),
  'a sealed export': (store, { stage }) => store.applyChanges([seal(stage)]),
  'a replacement': replaced({}),
  'a replacement that keeps exports': replaced({ keepsExports: true }),
  'a dry run of a replacement': replaced({ isDryRun: true }),
  'a session that is used': (store, { sessions: [session] }) =>
    store.extendSessions([{ id: session?.id ?? '', lastUsedAt: NOW + 5, idleExpiresAt: NOW + 1_500 }]),
  'a session ended by its token': (store, { sessions: [session] }) =>
    store.revokeSessions(session ? [session.refreshHash] : [], NOW),
  'a session ended by its id': (store, { email, sessions: [session] }) =>
    store.revokeSessionsById([{ id: session?.id ?? '', email }], NOW),
  'all sessions ended': (store, { email }) => store.revokeSessionsOf(email, NOW),
  'a session too many': (store, { email }) => store.addSessions([newSession({ email })], 1),
  'a wrong code': (store, { code }) => store.tryCode({ ...code, codeHash: 'wrong' }, NOW),
  'a right code': (store, { code }) => store.tryCode(code, NOW),
  'a mail that is given up': (store, { code }) =>
    store.settleMails(MAILER, [{ id: code.id, dueAt: null, isGivenUp: true }]),
  'another email': (store, { email }) => store.renameUser(email, OTHER_NAME),
  'a removal by a command': (store, { email }) => store.removeUsers([email, OTHER_NAME]),
  'a removal by an import': (store, { email }) => store.applyChanges([put({ email }), { type: 'removeUser', email }]),
}

/** Stores the same things under the same names for every user. Only what the texts say is different. */
async function settle(store: MigratableStore, emails: readonly string[]): Promise<readonly Neighbour[]> {
  const users = emails.map((email) => ({
    email,
    stage: randomUUID(),
    sessions: [newSession({ email }), newSession({ email })],
    known: newCode(email, '192.0.2.1'),
    code: newCode(email, '192.0.2.2'),
  }))
  await store.applyChanges(users.flatMap(({ email, stage }) => contentsOf(email, stage)))
  await store.addSessions(users.flatMap(({ sessions }) => sessions))
  const codes = users.flatMap(({ known, code }) => [known, code])
  await store.addCodeRequests(codes)
  const decided = await store.decideCodeRequests(RULES, NOW, codes.length)
  expect(decided.map(({ outcome }) => outcome)).toEqual(codes.map(() => 'mailed'))
  await store.leaseMails({ owner: MAILER, leaseMs: 1, limit: codes.length }, NOW)
  for (const { known } of users) expect(await store.tryCode(known, NOW)).toBe('right')
  return Promise.all(users.map(async (user) => ({ ...user, userId: (await store.userByEmail(user.email))?.id ?? 0 })))
}

function contentsOf(email: string, stage: string): readonly Change[] {
  return [
    put({ email, text: `"p of ${email}"` }),
    put({ email, id: 'q', ref: 'q', text: `"q of ${email}"` }),
    put({ email, kind: 'template', ref: null, text: `"p of ${email}"` }),
    ...exportOf(email, 'r', 1, 'one'),
    ...exportOf(email, 'r', 2, 'two'),
    ...exportOf(email, 'q', 1, 'one'),
    { type: 'stageExport', stage, email, ref: 'r', ...DAY(4), now: NOW },
    { type: 'stageElements', stage, position: 1, texts: [`"r of ${email}"`, '4'], now: NOW },
  ]
}

function exportOf(email: string, ref: string, day: number, digest: string): readonly Change[] {
  const stage = randomUUID()
  return [
    { type: 'stageExport', stage, email, ref, ...DAY(day), now: NOW },
    { type: 'stageElements', stage, position: 1, texts: [`"${ref} of ${email}"`, `"${day}"`], now: NOW },
    { ...seal(stage), digest },
  ]
}

function seal(stage: string) {
  return { type: 'sealExport', stage, digest: 'sealed', byteLength: 10, elementCount: 2 } as const
}

function newCode(email: string, network: string): CodeRequest {
  const id = randomUUID()
  return { id, email, network, agent: '', kid: 'k', codeHash: `hash of ${id}`, isEligible: true, askedAt: NOW }
}

/** Everything that is stored for a user, as far as it can be read. */
async function everythingOf(store: MigratableStore, { email, userId, sessions }: Neighbour) {
  await using snapshot = await store.openSnapshot()
  const lines = (await Array.fromAsync(dumpUsers(snapshot))).join('').split('\n')
  const ids = sessions.map(({ id }) => id)
  const ofUser = (row: CarriedRow) => row.includes(email) || row.includes(knownAddressKey(email))
  const rows = await Promise.all(
    SIGN_IN_TABLES.map(async (table) => (await store.carriedRowsAfter(table, '', 1_000)).filter(ofUser)),
  )
  return {
    lines: lines.filter((line) => line.includes(`"email":"${email}"`)),
    live: await store.liveSessions(ids, NOW),
    sessions: await store.sessionsOf(email, NOW, 100),
    exports: await store.exportCounts(['r', 'q', 'n'].map((ref) => ({ userId, ref }))),
    holdings: await store.holdingsOf([email]),
    rows,
  }
}

export function describeNeighbours(name: string, open: () => Promise<{ readonly store: MigratableStore }>): void {
  describe(`users side by side on ${name}`, () => {
    // Ana is stored first.
    test.each([
      [ANA, BEN],
      [BEN, ANA],
    ])('what is written for %s leaves everything of %s as it is', async (written, other) => {
      await using store = (await open()).store
      await store.addSigningKey({ kid: 'k', privateJwk: '{}', createdAt: NOW }, null)
      for (const [what, write] of Object.entries(WRITES)) {
        const settled = await settle(store, [ANA, BEN])
        const [subject, neighbour] = [written, other].map((email) => settled.find((user) => user.email === email))
        if (!subject || !neighbour) throw new Error('both were stored')
        const before = await everythingOf(store, neighbour)
        await write(store, subject)
        expect(await everythingOf(store, neighbour), what).toEqual(before)
        expect(await store.tryCode(neighbour.code, NOW), what).toBe('right')
        expect(await store.applyChanges([seal(neighbour.stage)]), what).toEqual(['added'])
        const [newest] = await store.latestExports([{ userId: neighbour.userId, ref: 'r' }])
        expect(newest?.digest, what).toBe('sealed')
        await store.removeUsers([ANA, BEN, OTHER_NAME])
      }
    })
  })
}
