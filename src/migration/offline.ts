// Copies a whole database into another while nothing writes to either.
import { randomUUID } from 'node:crypto'
import { eachOf } from '../import-export/each-of.ts'
import type { TracesLeftError } from '../store/contract.ts'
import type { MigratableStore } from '../store/cutover/contract.ts'
import { userPages } from '../store/paging/paging.ts'
import { copyRestCalls } from './copy-rest-calls.ts'
import { copyRows } from './copy-rows.ts'
import { copyKeys, copySessions, eraseGoneKeys } from './copy-sessions.ts'
import { copyUser, requireOwnEmails } from './copy-user.ts'
import { createCopyBatch, MoveError, type MoveTarget, requireReserved, type Target } from './row-copies.ts'

/** Number of users that are copied at the same time, so that more of their commits share one disk write. */
export const USERS_AT_ONCE = 8
/** Maximum age of a snapshot in milliseconds: an open snapshot keeps the database from cleaning up old rows. */
const SNAPSHOT_MS = 2_000

export interface MoveCounts {
  users: number
  /** Users that an earlier run had already copied completely. */
  usersThereBefore: number
  documents: number
  exports: number
  sessions: number
  keys: number
}

export interface MoveOptions {
  readonly onProgress: (counts: Readonly<MoveCounts>) => void
  /** Requests the end of the move. A step in progress is not interrupted. */
  readonly stop: AbortSignal
  /** Called when the target's files may still hold a key that was retired or sealed again after it was copied. */
  readonly onTracesLeft: (error: TracesLeftError) => void
}

/**
 * Copies everything from `from` to `to`. Nothing may write to either meanwhile. An interrupted move can be run again:
 * rows that are already there are compared, not copied. Reads everything back from `to` and compares it by digest.
 * Throws `MoveError`.
 */
export async function move(
  from: MigratableStore,
  to: MigratableStore,
  options: MoveOptions,
): Promise<Readonly<MoveCounts>> {
  const { identity, phase } = await requireSource(from, to)
  if (phase === 'moved') throw new MoveError('the source has moved to the target already')
  const target = await requireTarget(to, identity)
  try {
    const counts = await copyAll(from, target, options)
    await requireOwnEmails(target)
    await requireReserved(to.raiseIds(target.moveId, await from.lastIds()))
    await requireReserved(to.completeTarget(target.moveId))
    return counts
  } finally {
    await eraseGoneKeys(target, options.onTracesLeft)
  }
}

/** Returns the move state of the source. Throws `MoveError` when nothing can be moved from it. */
export async function requireSource(from: MigratableStore, to: MigratableStore) {
  const [source, target] = [await from.moveState(), await to.moveState()]
  if (source.identity === target.identity) {
    throw new MoveError('the source and the target are the same database, or one is a copy of the file of the other')
  }
  if (source.phase === 'filling') throw new MoveError('the source is itself being filled by a move that has not ended')
  if (source.phase === 'moved' && source.other !== target.identity) {
    throw new MoveError('the source has already moved to another database than the target')
  }
  return source
}

/** Reserves the target for this move. Throws `MoveError` for a database that is in use. */
export async function requireTarget(to: MigratableStore, other: string): Promise<MoveTarget> {
  const moveId = randomUUID()
  if (!(await to.reserveTarget({ id: moveId, other }))) {
    throw new MoveError('the target must be empty, or filled by a move from the source and not used since')
  }
  return { store: to, moveId, gone: new Set() }
}

/**
 * Copies everything and removes from the target whatever the source does not have. `afterPage` is called between pages
 * of users and of sessions.
 */
export async function copyAll(
  from: MigratableStore,
  target: MoveTarget,
  { onProgress, stop }: MoveOptions,
  afterPage: () => Promise<void> = async () => {},
): Promise<Readonly<MoveCounts>> {
  const counts = { users: 0, usersThereBefore: 0, documents: 0, exports: 0, sessions: 0, keys: 0 }
  let source = await from.openSnapshot()
  let openedAt = performance.now()
  try {
    for await (const users of userPages(from)) {
      if (performance.now() - openedAt > SNAPSHOT_MS) {
        await source[Symbol.asyncDispose]()
        source = await from.openSnapshot()
        openedAt = performance.now()
      }
      // Users that were removed or renamed since then have a note in the change log.
      const found = await source.usersById(users.map(({ id }) => id))
      await eachOf(found, USERS_AT_ONCE, async (user) => {
        stop.throwIfAborted()
        const copied = await copyUser(user, source, target, true)
        counts.users += 1
        counts.documents += copied.documents
        counts.exports += copied.exports
        if (copied.wasPresent) counts.usersThereBefore += 1
        onProgress(counts)
      })
      await afterPage()
    }
  } finally {
    await source[Symbol.asyncDispose]()
  }
  await deleteExtraneousUsers(from, target)
  await copySessions(from, target, async (count) => {
    stop.throwIfAborted()
    counts.sessions += count
    onProgress(counts)
    await afterPage()
  })
  counts.keys = await copyKeys(from, target)
  await copyRestCalls(from, target)
  await copyRows(from, target)
  return counts
}

async function deleteExtraneousUsers(from: MigratableStore, target: Target): Promise<void> {
  const batch = createCopyBatch(target)
  for await (const users of userPages(target.store)) {
    const ids = users.map(({ id }) => id)
    const kept = new Set((await from.usersById(ids)).map(({ id }) => id))
    for (const id of ids) if (!kept.has(id)) await batch.put({ type: 'dropUser', id })
  }
  await batch.flush()
}
