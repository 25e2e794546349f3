// Everything of one database into another while gateways serve on it: copied, caught up with, and in the end taken over.
import { eachOf } from '../import-export/each-of.ts'
import type { WorkspaceReads } from '../store/contract.ts'
import type { ChangedRow, MigratableStore } from '../store/cutover/contract.ts'
import { copyRestCallsOf } from './copy-rest-calls.ts'
import { copyChangedRows } from './copy-rows.ts'
import { copyKeys, copySessionsById, eraseGoneKeys } from './copy-sessions.ts'
import { copyUser, requireOwnEmails } from './copy-user.ts'
import { copyAll, type MoveCounts, type MoveOptions, requireSource, requireTarget, USERS_AT_ONCE } from './offline.ts'
import { createCopyBatch, MoveError, type MoveTarget, requireMine } from './row-copies.ts'

/** Writes are stopped when a round took less than this part of the time that they may be stopped for, … */
const SHORT_ROUND = 1 / 8
/** … or after this many rounds, since it may still work. */
const MAX_ROUNDS = 20
/** How often writes are stopped in vain before the move is given up. */
const MAX_ATTEMPTS = 10
const GIVEN_UP = 'the move was cancelled, or another one has taken over the source'

export interface OnlineOptions extends MoveOptions {
  /** Writes are stopped for at most this long. */
  readonly maxPauseMs: number
  readonly onPhase: (phase: 'catching up' | 'switching') => void
  /** The move failed, and could not be cancelled either: the source may still note what is changed. */
  readonly onCancelFailed: (error: unknown) => void
}

export interface OnlineReport {
  readonly counts: Readonly<MoveCounts>
  /** Changed while everything was copied, and copied again. */
  readonly usersAgain: number
  readonly sessionsAgain: number
  readonly rounds: number
  /** How often writes were stopped: all but the last time in vain. */
  readonly attempts: number
  /** From the moment writes were stopped until the other database had taken over. */
  readonly pauseMs: number
}

/**
 * May be broken off and run again. Null when `from` had moved to `to` before. Everything is read back from `to` and compared
 * by digest before it takes over. Whatever happens, exactly one of the two is written to. Throws `MoveError`.
 */
export async function moveOnline(
  from: MigratableStore,
  to: MigratableStore,
  options: OnlineOptions,
): Promise<OnlineReport | null> {
  const { identity, phase } = await requireSource(from, to)
  if (phase === 'moved') {
    await to.promote(identity)
    return null
  }
  const target = await requireTarget(to, identity)
  const { identity: other } = await to.moveState()
  try {
    if (!(await from.beginMove({ id: target.moveId, other })))
      throw new MoveError('the source has just moved: run this again')
    const report = await copyAndSwitch(from, target, options)
    await to.promote(identity)
    return report
  } catch (error) {
    // Nothing happens here once it has moved, or when another move has taken over. If it fails, writes are let in again when
    // the time of the closing has run out.
    await from.cancelMove(target.moveId).catch(options.onCancelFailed)
    throw error
  } finally {
    await eraseGoneKeys(target, options.onTracesLeft)
  }
}

async function copyAndSwitch(from: MigratableStore, target: MoveTarget, options: OnlineOptions): Promise<OnlineReport> {
  const { maxPauseMs, onPhase, stop } = options
  const catchUp = createCatchUp(from, target)
  // What is noted meanwhile is copied again, but does not pile up in the source.
  const counts = await copyAll(from, target, options, catchUp.noteChanges)
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts += 1) {
    onPhase('catching up')
    await untilShort(async () => {
      stop.throwIfAborted()
      await using snapshot = await catchUp.drainChangeLog()
      await catchUp.copyChanges(snapshot, Number.POSITIVE_INFINITY)
    }, maxPauseMs * SHORT_ROUND)
    onPhase('switching')
    const pauseMs = await trySwitch(from, target, catchUp, maxPauseMs)
    if (pauseMs !== null) return { counts, attempts, pauseMs, ...catchUp.counts() }
  }
  throw new MoveError(
    `what changes within a moment cannot be copied within ${maxPauseMs} ms: move when less is written, or raise max-pause. ` +
      'Everything goes on in the source',
  )
}

async function untilShort(round: () => Promise<void>, milliseconds: number): Promise<void> {
  for (let count = 1; count <= MAX_ROUNDS; count += 1) {
    const start = performance.now()
    await round()
    if (performance.now() - start < milliseconds) return
  }
}

/** How long writes were stopped; null when it took too long, and they go on as before. */
async function trySwitch(
  from: MigratableStore,
  target: MoveTarget,
  catchUp: CatchUp,
  maxPauseMs: number,
): Promise<number | null> {
  const { store, moveId } = target
  const start = performance.now()
  if (!(await from.fenceWrites(moveId, maxPauseMs))) throw new MoveError(GIVEN_UP)
  const deadline = performance.now() + maxPauseMs
  try {
    await catchUp.noteChanges()
    // Nothing changes now: what is read needs no snapshot. If anything does, it is noted, and the move does not finish.
    if (await fits(from, catchUp.copyChanges(from, deadline))) {
      await requireOwnEmails(target)
      await requireMine(store.raiseIds(moveId, await from.lastIds()))
      if (await from.finishMove(moveId)) return performance.now() - start
    }
    return null
  } finally {
    await from.unfenceWrites(moveId)
  }
}

/** Also false for what failed once writes were let in again: half of what it read may have been of before them. */
async function fits(from: MigratableStore, copying: Promise<boolean>): Promise<boolean> {
  try {
    return await copying
  } catch (error) {
    if ((await from.moveState()).phase === 'closed') throw error
    return false
  }
}

type CatchUp = ReturnType<typeof createCatchUp>

/** What was changed and is not copied yet. */
function createCatchUp(from: MigratableStore, target: MoveTarget) {
  const users = new Set<number>()
  const sessions = new Set<string>()
  const callDays = new Set<string>()
  const rows = new Map<string, ChangedRow>()
  let hasKeys = false
  const counts = { usersAgain: 0, sessionsAgain: 0, rounds: 0 }

  async function noteChanges(): Promise<void> {
    const changed = await from.drainChangeLog(target.moveId)
    if (!changed) throw new MoveError(GIVEN_UP)
    for (const id of changed.users) users.add(id)
    for (const id of changed.sessions) sessions.add(id)
    hasKeys ||= changed.hasKeys
    for (const day of changed.callDays) callDays.add(day)
    for (const row of changed.rows) rows.set(JSON.stringify([row.table, row.key]), row)
  }

  async function copyUsers(source: WorkspaceReads, deadline: number): Promise<void> {
    const asked = [...users].sort((a, b) => a - b)
    const found = await source.usersById(asked)
    const kept = new Set(found.map(({ id }) => id))
    const batch = createCopyBatch(target)
    for (const id of asked) if (!kept.has(id)) await batch.put({ type: 'dropUser', id })
    await batch.flush()
    for (const id of asked) if (!kept.has(id)) users.delete(id)
    await eachOf(found, USERS_AT_ONCE, async (user) => {
      if (performance.now() > deadline) return
      await copyUser(user, source, target, false)
      users.delete(user.id)
      counts.usersAgain += 1
    })
  }

  return {
    noteChanges,
    /** The snapshot to copy from: no older than what was noted. */
    async drainChangeLog() {
      await noteChanges()
      return from.openSnapshot()
    },
    /** True when everything that was noted is copied; stops at the deadline. */
    async copyChanges(source: WorkspaceReads, deadline: number): Promise<boolean> {
      counts.rounds += 1
      await copyUsers(source, deadline)
      if (users.size > 0) return false
      const ids = [...sessions]
      await copySessionsById(ids, from, target)
      for (const id of ids) sessions.delete(id)
      counts.sessionsAgain += ids.length
      if (hasKeys) await copyKeys(from, target)
      hasKeys = false
      await copyRestCallsOf([...callDays], from, target)
      callDays.clear()
      await copyChangedRows([...rows.values()], from, target)
      rows.clear()
      return performance.now() <= deadline
    },
    counts: () => ({ ...counts }),
  }
}
