// Follows users of another server: in each round it fetches what has changed and applies it here.
import { MachineError } from '../../../errors.ts'
import { StoreRefusedError, StoreUnavailableError } from '../../../store/contract.ts'
import { eachOf } from '../../each-of.ts'
import { ContractError, OutageError } from '../client.ts'
import type { MoveInOptions, RemoteUser } from '../move-in.ts'
import { EmptiedListsError, EmptiedWorkspaceError, LostListsError } from '../refusals/lost-documents.ts'
import { LostExportsError } from '../refusals/lost-exports.ts'
import { filledLists, seenInStore } from '../seen-workspace.ts'
import { takeIn } from '../take-in.ts'
import { createAside } from './aside.ts'
import {
  type Counts,
  createFindings,
  type Findings,
  type Followed,
  giveUp,
  type Losing,
  type Refused,
  type Removable,
  removableAtOnce,
  type Step,
} from './findings.ts'
import { createFollowedUsers } from './followed-users.ts'
import { fromAnywhere } from './from-anywhere.ts'
import { areTooMany, doubtedLists, findAgain, isBelieved, type Loss } from './losses.ts'
import type { Changes, Round } from './round.ts'

export interface Follower extends AsyncDisposable {
  /** Forgets users that are no longer in the list. Throws errors that are no outage, and the reason of `stop`. */
  readonly round: (users: readonly RemoteUser[]) => Promise<Round>
  /** Same as `lagSeconds` of a round, at this moment. */
  readonly lagSeconds: () => number | null
  /** Totals of all rounds, including interrupted ones. */
  readonly changes: () => Changes
}

export interface FollowOptions extends Omit<MoveInOptions, 'isReplacement' | keyof Removable> {
  /** Called once for each failure of a user, and not again while the failure stays the same. */
  readonly onFailed: (user: RemoteUser, error: ContractError | StoreRefusedError) => void
  /** Called after each user of a round with the number of users done. */
  readonly onUser?: (done: number) => void
  /**
   * How long a workspace must be gone or empty there, or all exports of a user, before the data here is removed, in
   * milliseconds.
   */
  readonly removeAfterMs: number
  /**
   * Whether the server answers 404 for an empty list. Then a 404 for one list of a user is believed after
   * `removeAfterMs`, if that list of somebody else is answered meanwhile.
   */
  readonly areAbsentListsEmpty: boolean
  /**
   * Whether to believe at once, for any number of users, that workspaces are gone or empty, that a list is empty, and a
   * 404 for one list or for all exports of a user.
   */
  readonly mayRemoveMany: boolean
}

/** `gone`: no workspace there, but one here. */
type Outcome = 'changed' | 'unchanged' | 'missing' | 'gone'

/** Signs out all sessions when it is disposed of. */
export function createFollower(options: FollowOptions): Follower {
  const { store, concurrency, stop, onFailed, onUser, removeAfterMs, areAbsentListsEmpty, mayRemoveMany } = options
  const removable = removableAtOnce(mayRemoveMany)
  const followed = createFollowedUsers(options)
  let wasAbandoned = false
  const changes = { added: 0, replaced: 0, removed: 0 }
  const firstStepOf = (user: RemoteUser): Step => ({ user, one: followed.ensure(user), may: removable, believed: 0 })
  const aside = createAside(createFindings, (user, found) => tryStep(firstStepOf(user), found))

  /** Throws an error of the folder `refusals` when the data may not be removed. */
  async function takeStep({ user: { email }, one, may }: Step, found: Findings): Promise<Outcome> {
    const at = performance.now()
    const before = one.seen ?? (await seenInStore(store, email, options.fields))
    const taken = await takeIn(email, one.session, before, { ...options, isReplacement: true, ...may })
    if (taken.type === 'missing') {
      if ((await store.userByEmail(email)) !== null) return 'gone'
      one.seen = null
    } else {
      one.seen = taken.seen
      for (const kind of filledLists(taken.seen)) found.filled.add(kind)
    }
    if (taken.type === 'changed') addTo(found.counts, taken.counts)
    followed.markInStep(one, at)
    return taken.type
  }

  function addTo(counts: Counts, made: Changes): void {
    for (const name of ['added', 'replaced', 'removed'] as const) {
      counts[name] += made[name]
      changes[name] += made[name]
    }
  }

  /** Must be called only once per user, round and number. True when the data here shall be removed. */
  function isProven({ one, at }: Losing, believed: number, loss: Loss): boolean {
    one.losses = findAgain(one.losses, believed, loss, at)
    return mayRemoveMany || isBelieved(one.losses[believed], at, removeAfterMs)
  }

  /** Returns the number of gone users that still have a workspace here. */
  async function removeGone(found: Findings): Promise<number> {
    const { counts, gone } = found
    const due = gone.filter((losing) => isProven(losing, 0, 'workspace'))
    let removed = 0
    for (const { user, one, at } of due) {
      try {
        await store.applyChanges([{ type: 'removeUser', email: user.email }])
      } catch (error) {
        counts.missing -= 1
        fail(user, one, error, found)
        break
      }
      removed += 1
      addTo(counts, { added: 0, replaced: 0, removed: 1 })
      one.seen = null
      followed.markInStep(one, at)
    }
    return gone.length - removed
  }

  /** A failure that concerns only this user does not end the round. */
  async function tryStep(step: Step, found: Findings): Promise<void> {
    const { user, one } = step
    const at = performance.now()
    try {
      const outcome = await takeStep(step, found)
      tellUnanswered(found)
      found.counts[outcome === 'gone' ? 'missing' : outcome] += 1
      if (outcome === 'gone') found.gone.push({ user, one, at })
    } catch (error) {
      if (!(error instanceof OutageError)) tellUnanswered(found)
      if (error instanceof EmptiedWorkspaceError) found.emptied.push({ ...step, at, error })
      else if (error instanceof LostListsError && areAbsentListsEmpty) found.lostLists.push({ ...step, at, error })
      else if (error instanceof EmptiedListsError) found.emptiedLists.push({ ...step, at, error })
      else if (error instanceof LostExportsError) found.lostExports.push({ ...step, at, error })
      else failUnseen(user, one, error, found)
    }
  }

  /** Fails the user and resets the loss, which this round did not confirm. */
  function failUnseen(user: RemoteUser, one: Followed, error: unknown, found: Findings): void {
    one.losses = []
    fail(user, one, error, found)
  }

  function fail(user: RemoteUser, one: Followed, error: unknown, found: Findings): void {
    found.counts.failed += 1
    // A change may be stored whose confirmation was lost, or the user may have been removed here meanwhile.
    if (error instanceof StoreUnavailableError || error instanceof StoreRefusedError) one.seen = null
    if (error instanceof StoreUnavailableError || error instanceof MachineError) giveUp(found, error, false)
    else if (error instanceof OutageError) {
      if (found.unanswered.add({ user, one, error }, found.users)) giveUp(found, error, true)
    } else if (error instanceof ContractError || error instanceof StoreRefusedError) note(user, one, error)
    else throw error
  }

  /** The server responded, so it is not down: the users without a response failed by themselves. */
  function tellUnanswered({ unanswered }: Findings): void {
    for (const { user, one, error } of unanswered.takeAll()) note(user, one, error)
  }

  /** Removes what has been lost for long enough; the other users fail. */
  async function settle(
    losing: readonly Refused[],
    loss: Loss,
    found: Findings,
    may: Partial<Removable>,
  ): Promise<void> {
    for (const refused of losing) {
      const { user, one, believed, error } = refused
      const isDue = found.outage === null && isProven(refused, believed, loss)
      if (isDue) await tryStep({ user, one, may: { ...refused.may, ...may }, believed: believed + 1 }, found)
      else fail(user, one, error, found)
    }
  }

  /**
   * Empties the lists here that have been 404 there for long enough, except a list that too many users have lost, or that
   * nobody has: its route may be at fault.
   */
  async function settleLostLists(found: Findings): Promise<void> {
    const losing = found.lostLists.splice(0)
    const doubted = doubtedLists(losing, found.counts)
    for (const refused of losing) {
      const { user, one, error } = refused
      const isDoubted = error.kinds.some((kind) => doubted.includes(kind) || !found.filled.has(kind))
      if (isDoubted) failUnseen(user, one, error, found)
      else await settle([refused], `lists:${error.kinds.join()}`, found, { mayLoseLists: error.kinds })
    }
  }

  /** Empties the lists here that are empty there, except a list that is empty there for too many users. */
  async function settleEmptiedLists(found: Findings): Promise<void> {
    const losing = found.emptiedLists.splice(0)
    const doubted = doubtedLists(losing, found.counts)
    for (const { user, one, error, may, believed } of losing) {
      const isRefused = found.outage !== null || error.kinds.some((kind) => doubted.includes(kind))
      if (isRefused) failUnseen(user, one, error, found)
      else await tryStep({ user, one, may: { ...may, mayClear: error.kinds }, believed }, found)
    }
  }

  /** Removes lost exports, unless too many users have lost them. */
  async function settleLostExports(found: Findings): Promise<void> {
    const { lostExports, counts } = found
    const losing = lostExports.splice(0)
    const areDoubted = areTooMany(losing.length, losing.length + counts.changed + counts.unchanged)
    if (!areDoubted) return settle(losing, 'exports', found, { mayLoseAllExports: true })
    for (const { user, one, error } of losing) failUnseen(user, one, error, found)
  }

  /** Fails users who were asked again to settle a loss, and have lost something else meanwhile. */
  function failOthers(found: Findings): void {
    const { lostLists, emptiedLists, lostExports, emptied } = found
    const others = [...lostLists, ...emptiedLists, ...lostExports, ...emptied]
    for (const { user, one, error } of others) failUnseen(user, one, error, found)
  }

  /** Removes or empties the workspaces here that are gone or empty there, unless there are too many. */
  async function settleWorkspaces(found: Findings): Promise<Pick<Round, 'waiting' | 'doubted'>> {
    const { counts, gone } = found
    const emptied = found.emptied.splice(0)
    const lost = gone.length + emptied.length
    if (!mayRemoveMany && areTooMany(lost, lost + counts.changed + counts.unchanged)) {
      for (const { one } of [...gone, ...emptied]) one.losses = []
      counts.missing -= gone.length
      counts.failed += lost
      return { waiting: gone.length, doubted: lost }
    }
    await settle(emptied, 'documents', found, { mayEmptyWorkspace: true })
    const waiting = found.outage === null ? await removeGone(found) : gone.length
    return { waiting, doubted: 0 }
  }

  function note(user: RemoteUser, one: Followed, error: ContractError | StoreRefusedError): void {
    if (one.failure !== error.message) onFailed(user, error)
    one.failure = error.message
    if (error instanceof OutageError) aside.add(user)
  }

  async function forgetOthers(users: readonly RemoteUser[]): Promise<void> {
    const named = new Set(users.map(({ email }) => email))
    const forgotten = await followed.forget((email) => named.has(email) || aside.isAsking(email))
    for (const email of forgotten) aside.remove(email)
  }

  return {
    lagSeconds: followed.lagSeconds,
    changes: () => ({ ...changes }),
    async round(users) {
      const began = performance.now()
      let done = 0
      await forgetOthers(users)
      for (const user of users) followed.ensure(user)
      const late = await aside.next()
      const before = users.some(({ email }) => email === late?.email) ? late : null
      const found = before?.found ?? createFindings()
      // The server may be back since this user was asked.
      found.outage = null
      const { counts } = found
      const asked = users.filter(({ email }) => email !== before?.email && !aside.has(email))
      counts.failed += users.filter(({ email }) => aside.has(email)).length
      found.users = asked.length + (before ? 1 : 0)
      await eachOf(wasAbandoned ? fromAnywhere(asked) : asked, concurrency, async (user) => {
        stop.throwIfAborted()
        const step = firstStepOf(user)
        if (found.outage !== null) {
          step.one.losses = []
          counts.failed += 1
          return
        }
        await tryStep(step, found)
        done += 1
        onUser?.(done)
      })
      await settleLostLists(found)
      await settleEmptiedLists(found)
      await settleLostExports(found)
      const settled = await settleWorkspaces(found)
      failOthers(found)
      const { outage, isServerDown } = found
      wasAbandoned = outage !== null
      if (outage === null) tellUnanswered(found)
      const seconds = (performance.now() - began) / 1_000
      const lagSeconds = followed.lagSeconds()
      return { users: users.length, ...counts, ...settled, outage, isServerDown, seconds, lagSeconds }
    },
    async [Symbol.asyncDispose]() {
      await aside.end()
      await followed.forget(() => false)
    },
  }
}
