// Follows users of another server: in each round it fetches what has changed and applies it here.
import { MachineError } from '../../../errors.ts'
import { StoreRefusedError, StoreUnavailableError } from '../../../store/contract.ts'
import { eachOf } from '../../each-of.ts'
import { ContractError, OutageError } from '../client.ts'
import type { MoveInOptions, RemoteUser } from '../move-in.ts'
import { LossError } from '../refusals/loss.ts'
import { filledLists, seenInStore } from '../seen-workspace.ts'
import { takeIn } from '../take-in.ts'
import { createAside } from './aside.ts'
import {
  addFindings,
  createFindings,
  type Findings,
  type Followed,
  giveUp,
  type Losing,
  type Step,
} from './findings.ts'
import { createFollowedUsers } from './followed-users.ts'
import { fromAnywhere } from './from-anywhere.ts'
import {
  countLosses,
  type Evidence,
  GROUPS,
  judge,
  type Removable,
  type RemovalOptions,
  RULES,
  removableAtOnce,
} from './losses.ts'
import type { Changes, Round } from './round.ts'

export interface Follower extends AsyncDisposable {
  /** Forgets users that are no longer in the list. Throws errors that are no outage, and the reason of `stop`. */
  readonly round: (users: readonly RemoteUser[]) => Promise<Round>
  /** Same as `lagSeconds` of a round, at this moment. */
  readonly lagSeconds: () => number | null
  /** Totals of all rounds, including interrupted ones. */
  readonly changes: () => Changes
}

export interface FollowOptions extends Omit<MoveInOptions, 'isReplacement' | keyof Removable>, RemovalOptions {
  /** Called once for each failure of a user, and not again while the failure stays the same. */
  readonly onFailed: (user: RemoteUser, error: ContractError | StoreRefusedError) => void
  /** Called after each user of a round with the number of users done. */
  readonly onUser?: (done: number) => void
}

/** Signs out all sessions when it is disposed of. */
export function createFollower(options: FollowOptions): Follower {
  const { store, concurrency, stop, onFailed, onUser } = options
  const removable = removableAtOnce(options.mayRemoveMany)
  const followed = createFollowedUsers(options)
  let wasAbandoned = false
  const changes = { added: 0, replaced: 0, removed: 0 }
  const firstStepOf = (user: RemoteUser): Step => ({ user, one: followed.ensure(user), may: removable, believed: 0 })
  const aside = createAside(createFindings, (user, found) => tryStep(firstStepOf(user), found))

  /** Throws an error of the folder `refusals` when the data may not be removed. */
  async function takeStep({ user: { email }, one, may }: Step, found: Findings): Promise<void> {
    const at = performance.now()
    const before = one.seen ?? (await seenInStore(store, email, options.fields))
    const taken = await takeIn(email, one.session, before, { ...options, isReplacement: true, ...may })
    if (taken.type === 'missing') {
      if ((await store.userByEmail(email)) !== null) throw new LossError('workspace', 'every list is 404 there')
      one.seen = null
    } else {
      one.seen = taken.seen
      for (const kind of filledLists(taken.seen)) found.filled.add(kind)
    }
    if (taken.type === 'changed') addTo(found.counts, taken.counts)
    found.counts[taken.type] += 1
    followed.markInStep(one, at)
  }

  function addTo(counts: Findings['counts'], made: Changes): void {
    for (const name of ['added', 'replaced', 'removed'] as const) {
      counts[name] += made[name]
      changes[name] += made[name]
    }
  }

  /** A failure that concerns only this user does not end the round. */
  async function tryStep(step: Step, found: Findings): Promise<void> {
    const at = performance.now()
    try {
      await takeStep(step, found)
      tellUnanswered(found)
    } catch (error) {
      if (!(error instanceof OutageError)) tellUnanswered(found)
      if (error instanceof LossError) found.losing.push({ ...step, at, error })
      else failUnseen(step, error, found)
    }
  }

  /** Fails the user and resets the loss, which this round did not confirm. */
  function failUnseen(step: Step, error: unknown, found: Findings): void {
    step.one.losses = []
    fail(step, error, found)
  }

  function fail({ user, one }: Step, error: unknown, found: Findings): void {
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

  /** Removes here what is believed to be removed there. */
  async function settleLosses(found: Findings): Promise<void> {
    for (const types of GROUPS) {
      const losses = found.losing.flatMap(({ error }) => (types.includes(error.type) ? error : []))
      const counted = { losing: countLosses(losses), inStep: found.counts.changed + found.counts.unchanged }
      for (const type of types) {
        const losing = found.losing.filter(({ error }) => error.type === type)
        found.losing = found.losing.filter(({ error }) => error.type !== type)
        for (const one of losing) await settle(one, counted, found)
      }
    }
    // These users were asked again to settle a loss, and have lost something else meanwhile.
    for (const losing of found.losing) failUnseen(losing, losing.error, found)
  }

  async function settle(losing: Losing, counted: Pick<Evidence, 'losing' | 'inStep'>, found: Findings): Promise<void> {
    const { one, error, at, may } = losing
    const { type, kinds } = error
    const suspect = { type, kinds, at, before: one.losses, believed: losing.believed }
    const evidence = { ...counted, filled: found.filled, isGivenUp: found.outage !== null }
    const { outcome, losses, believed } = judge(suspect, evidence, options)
    one.losses = losses
    if (outcome !== 'believed') leave(losing, outcome === 'doubted', found)
    else if (type === 'workspace') await removeUser(losing, found)
    else await tryStep({ ...losing, may: { ...may, ...RULES[type].allows(kinds) }, believed }, found)
  }

  /** Removes nothing of the user. */
  function leave(losing: Losing, isDoubted: boolean, found: Findings): void {
    const { counts } = found
    const { type } = losing.error
    const isWorkspace = type === 'workspace'
    if (isWorkspace) counts.waiting += 1
    // The round reports these users together.
    if (isDoubted && (isWorkspace || type === 'documents')) {
      counts.doubted += 1
      counts.failed += 1
    } else if (isWorkspace) counts.missing += 1
    else fail(losing, losing.error, found)
  }

  async function removeUser(losing: Losing, found: Findings): Promise<void> {
    const { user, one, at } = losing
    try {
      await store.applyChanges([{ type: 'removeUser', email: user.email }])
    } catch (error) {
      found.counts.waiting += 1
      fail(losing, error, found)
      return
    }
    found.counts.missing += 1
    addTo(found.counts, { added: 0, replaced: 0, removed: 1 })
    one.seen = null
    followed.markInStep(one, at)
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
      const named = new Set(users.map(({ email }) => email))
      const late = (await aside.next()).filter(({ email }) => named.has(email))
      const lateEmails = new Set(late.map(({ email }) => email))
      const others = users.filter(({ email }) => !lateEmails.has(email))
      const asked = others.filter(({ email }) => !aside.has(email))
      const found = createFindings()
      const { counts } = found
      counts.failed += others.length - asked.length
      found.users = asked.length
      for (const { found: foundLate } of late) {
        addFindings(found, foundLate)
        const unanswered = foundLate.unanswered.takeAll()
        if (unanswered.length === 0) found.users += 1
        for (const { user, one, error } of unanswered) note(user, one, error)
      }
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
      await settleLosses(found)
      const { outage, isServerDown } = found
      wasAbandoned = outage !== null
      if (outage === null) tellUnanswered(found)
      const seconds = (performance.now() - began) / 1_000
      const lagSeconds = followed.lagSeconds()
      return { users: users.length, ...counts, outage, isServerDown, seconds, lagSeconds }
    },
    async [Symbol.asyncDispose]() {
      await aside.end()
      await followed.forget(() => false)
    },
  }
}
