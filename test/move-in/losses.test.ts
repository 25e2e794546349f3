// The rules of follow about what may be lost at the other server, as a table. The other tests of follow show what is
// removed because of them.
import { expect, test } from 'vitest'
import {
  countLosses,
  type Evidence,
  judge,
  type RemovalOptions,
  type Suspect,
} from '../../src/import-export/remote/follow/losses.ts'

const TIMES = { at: 20_000, before: [], believed: 0 }
const LISTS: Suspect = { ...TIMES, type: 'lists', kinds: ['template'] }
const EMPTY_LISTS: Suspect = { ...TIMES, type: 'emptyLists', kinds: ['template'] }
const EXPORTS: Suspect = { ...TIMES, type: 'exports', kinds: [] }
const DOCUMENTS: Suspect = { ...TIMES, type: 'documents', kinds: [] }
const WORKSPACE: Suspect = { ...TIMES, type: 'workspace', kinds: [] }

/** The suspect as an earlier round found it too, at this time. */
const foundAt = (since: number, suspect: Suspect): Suspect => ({
  ...suspect,
  before: [{ name: [suspect.type, ...suspect.kinds].join(), rounds: 1, since }],
})
/** So many users with this loss among so many. */
const of = (losing: number, users: number, { kinds } = LISTS) => ({
  losing: countLosses(Array.from({ length: losing }, () => ({ kinds }))),
  inStep: users - losing,
})

const UNFILLED: Partial<Evidence> = { filled: new Set(['project', 'uiLibrary']) }
const GIVEN_UP: Partial<Evidence> = { isGivenUp: true }
const MANY: Partial<RemovalOptions> = { mayRemoveMany: true }
const PRESENT: Partial<RemovalOptions> = { areAbsentListsEmpty: false }

test.each<[outcome: string, what: string, Suspect, Partial<Evidence>?, Partial<RemovalOptions>?]>([
  ['waiting', 'found for the first time: 404 lists', LISTS],
  ['waiting', 'found for the first time: exports', EXPORTS],
  ['waiting', 'found for the first time: documents', DOCUMENTS],
  ['waiting', 'found for the first time: a workspace', WORKSPACE],
  ['believed', 'found for the first time: empty lists', EMPTY_LISTS],

  ['believed', 'found again after 15 s: 404 lists', foundAt(5_000, LISTS)],
  ['believed', 'found again after 15 s: exports', foundAt(5_000, EXPORTS)],
  ['believed', 'found again after 15 s: documents', foundAt(5_000, DOCUMENTS)],
  ['believed', 'found again after 15 s: a workspace', foundAt(5_000, WORKSPACE)],
  ['waiting', 'found again too soon', foundAt(5_001, WORKSPACE)],
  ['waiting', 'another loss was found before', { ...EXPORTS, before: foundAt(0, WORKSPACE).before }],
  [
    'waiting',
    'another list was lost before',
    { ...LISTS, before: foundAt(0, { ...LISTS, kinds: ['project'] }).before },
  ],
  ['waiting', 'no time has to pass, but a second round', WORKSPACE, {}, { removeAfterMs: 0 }],

  ['believed', 'three users of four', foundAt(0, WORKSPACE), of(3, 4, WORKSPACE)],
  ['doubted', 'four users of 39', foundAt(0, WORKSPACE), of(4, 39, WORKSPACE)],
  ['believed', 'four users of 40', foundAt(0, WORKSPACE), of(4, 40, WORKSPACE)],
  ['doubted', 'two users of two', foundAt(0, EXPORTS), of(2, 2, EXPORTS)],
  ['believed', 'one user of one', foundAt(0, DOCUMENTS), of(1, 1, DOCUMENTS)],
  ['doubted', 'an empty list of two users of two', EMPTY_LISTS, of(2, 2)],
  ['doubted', 'an empty list of four users of 20', EMPTY_LISTS, of(4, 20)],
  [
    'believed',
    'an empty list, with other lists of three users',
    EMPTY_LISTS,
    of(3, 4, { ...LISTS, kinds: ['project'] }),
  ],
  ['doubted', 'one of two lists that many have lost', { ...EMPTY_LISTS, kinds: ['project', 'template'] }, of(4, 20)],

  ['doubted', 'a 404 list that nobody has', foundAt(0, LISTS), UNFILLED],
  ['believed', 'an empty list that nobody has', EMPTY_LISTS, UNFILLED],
  ['doubted', 'a 404 list, which this server never has instead of an empty one', foundAt(0, LISTS), {}, PRESENT],

  ['waiting', 'found again in a round that is given up', foundAt(0, WORKSPACE), GIVEN_UP],
  ['waiting', 'an empty list in a round that is given up', EMPTY_LISTS, GIVEN_UP],
  ['waiting', 'a round that is given up, with --remove-many', WORKSPACE, GIVEN_UP, MANY],

  ['believed', '--remove-many: found for the first time', WORKSPACE, {}, MANY],
  ['believed', '--remove-many: all users', WORKSPACE, of(9, 9, WORKSPACE), MANY],
])('%s: %s', (outcome, _, suspect, evidence, options) => {
  expect(verdictOn(suspect, evidence, options).outcome).toBe(outcome)
})

const found = (name: string, rounds: number) => ({ name, rounds, since: 5_000 })
const BOTH = [found('lists,template', 1), found('exports', 1)]

test.each<[what: string, Suspect, Partial<Evidence> | undefined, after: readonly ReturnType<typeof found>[]]>([
  [
    'the same loss is one round older',
    { ...LISTS, before: BOTH },
    {},
    [found('lists,template', 2), found('exports', 1)],
  ],
  [
    'so is one behind a loss that is believed',
    { ...EXPORTS, before: BOTH, believed: 1 },
    {},
    [found('lists,template', 1), found('exports', 2)],
  ],
  ['one that was behind another loss now stands alone', { ...EXPORTS, before: BOTH }, {}, [found('exports', 2)]],
  ['an empty list, which is believed at once, changes nothing', { ...EMPTY_LISTS, before: BOTH }, {}, BOTH],
  ['a loss that is doubted begins anew', { ...EXPORTS, before: BOTH }, of(9, 9), []],
  ['a round that is given up adds nothing', { ...EXPORTS, before: BOTH, believed: 1 }, GIVEN_UP, BOTH],
  ['and keeps only what it has found again', { ...EXPORTS, before: BOTH }, GIVEN_UP, [found('exports', 1)]],
])('what the next round compares with: %s', (_, suspect, evidence, after) => {
  expect(verdictOn(suspect, evidence).losses).toEqual(after)
})

function verdictOn(suspect: Suspect, evidence: Partial<Evidence> = {}, options: Partial<RemovalOptions> = {}) {
  const filled: Evidence['filled'] = new Set(['project', 'template', 'uiLibrary'])
  return judge(
    suspect,
    { ...of(1, 10, suspect), filled, isGivenUp: false, ...evidence },
    { removeAfterMs: 15_000, areAbsentListsEmpty: true, mayRemoveMany: false, ...options },
  )
}
