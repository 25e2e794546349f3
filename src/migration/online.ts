// Copies a database into another while gateways serve it, catches up with the changes, and switches over.
import { eachOf } from '../import-export/each-of.ts'
import type { WorkspaceReads } from '../store/contract.ts'
import type { ChangedRow, MigratableStore } from '../store/cutover/contract.ts'
import { copyRestCallsOf } from './copy-rest-calls.ts'
import { copyChangedRows } from './copy-rows.ts'
import { copyKeys, copySessionsById, eraseGoneKeys } from './copy-sessions.ts'
import { copyUser, requireOwnEmails } from './copy-user.ts'
import { copyAll, type MoveCounts, type MoveOptions, requireSource, requireTarget, USERS_AT_ONCE } from './offline.ts'
import { createCopyBatch, MoveError, type MoveTarget, requireReserved } from './row-copies.ts'

/** Writes are fenced when a catch-up round took less than this fraction of the maximum pause, … */
const SHORT_ROUND = 1 / 8
/** … or after this many rounds, because the cutover may still succeed. */
const MAX_ROUNDS = 20
/** Maximum number of cutover attempts before the move is given up. */
const MAX_ATTEMPTS = 10
const GIVEN_UP = 'the move was cancelled, or another one has taken over the source'

export interface OnlineOptions extends MoveOptions {
  /** Maximum time for which writes are fenced. */
  readonly maxPauseMs: number
  readonly onPhase: (phase: 'catching up' | 'switching') => void
  /** Called when the move failed and could not be cancelled either: the source may still note its changes. */
  readonly onCancelFailed: (error: unknown) => void
}

export interface OnlineReport {
  readonly counts: Readonly<MoveCounts>
  /** Users and sessions that changed during the copy and were copied again. */
  readonly usersAgain: number
  readonly sessionsAgain: number
  /** Number of times that writes were fenced. All but the last attempt failed. */
  readonly attempts: number
  /** Time from the fencing of writes to the cutover. */
  readonly pauseMs: number
}

/**
 * Moves `from` to `to` online. An interrupted move can be run again. Null when `from` had already moved to `to`. Reads
 * everything back from `to` and compares it by digest before the cutover. In every case, exactly one of the two
 * databases accepts writes. Throws `MoveError`.
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
    // Does nothing when the source has moved, or when another move has taken it over. When it fails, the fence expires
    // by itself and the source accepts writes again.
    await from.cancelMove(target.moveId).catch(options.onCancelFailed)
    throw error
  } finally {
    await eraseGoneKeys(target, options.onTracesLeft)
  }
}

async function copyAndSwitch(from: MigratableStore, target: MoveTarget, options: OnlineOptions): Promise<OnlineReport> {
  const { maxPauseMs, onPhase, stop } = options
  const catchUp = createCatchUp(from, target)
  // Drains the change log between pages, so that it does not grow in the source. The changes are copied again later.
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
    `the last changes cannot be copied within ${maxPauseMs} ms: move when there are fewer writes, or raise max-pause. ` +
      'The source continues as before',
  )
}

async function untilShort(round: () => Promise<void>, milliseconds: number): Promise<void> {
  for (let count = 1; count <= MAX_ROUNDS; count += 1) {
    const start = performance.now()
    await round()
    if (performance.now() - start < milliseconds) return
  }
}

/**
 * Returns how long writes were fenced, in milliseconds. Null when the time did not suffice; writes continue as before.
 */
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
    // The fence holds, so no snapshot is needed. If a write happens all the same, it is noted and the move does not
    // finish.
    if (await fits(from, catchUp.copyChanges(from, deadline))) {
      await requireOwnEmails(target)
      await requireReserved(store.raiseIds(moveId, await from.lastIds()))
      if (await from.finishMove(moveId)) return performance.now() - start
    }
    return null
  } finally {
    await from.unfenceWrites(moveId)
  }
}

/**
 * Also false for an error after the fence has expired: the copy may have read one half of the data before a write and
 * the other half after it.
 */
async function fits(from: MigratableStore, copying: Promise<boolean>): Promise<boolean> {
  try {
    return await copying
  } catch (error) {
    if ((await from.moveState()).phase === 'closed') throw error
    return false
  }
}

type CatchUp = ReturnType<typeof createCatchUp>

/** Collects the changes that are not copied yet. */
function createCatchUp(from: MigratableStore, target: MoveTarget) {
  const users = new Set<number>()
  const sessions = new Set<string>()
  const callDays = new Set<string>()
  const rows = new Map<string, ChangedRow>()
  let hasKeys = false
  const counts = { usersAgain: 0, sessionsAgain: 0 }

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
    /** Opens the snapshot to copy from. It is no older than the noted changes. */
    async drainChangeLog() {
      await noteChanges()
      return from.openSnapshot()
    },
    /** Copies the noted changes, until the deadline. True when all of them are copied in time. */
    async copyChanges(source: WorkspaceReads, deadline: number): Promise<boolean> {
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
