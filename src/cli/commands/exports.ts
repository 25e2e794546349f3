// exports prune: removes old exports in small batches. After an interruption, the next run goes on.
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../../errors.ts'
import { toSortableUtc } from '../../import-export/format/timestamp.ts'
import type { StoredUser } from '../../store/contract.ts'
import { userPages } from '../../store/paging/paging.ts'
import type { EditableStore, Pruned, PruneRule } from '../../store/workspace-edits.ts'
import { flushAndTell } from '../flush-removals.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openCommandAudit } from '../open-audit.ts'
import { openStoreToWrite } from '../open-store-for-cli.ts'
import type { PruneConfig } from '../options/workspace-options.ts'
import { toSize } from '../progress.ts'

/** Pause between batches, long enough for another writer that polls the write lock every millisecond to get it. */
const PAUSE_MS = 3
/** Exports kept per project when only an age is given: the one that GET /exports answers stays. */
const DEFAULT_KEEP = 1
/**
 * Lower bound of the cutoff: no export has an earlier `instant`. For earlier times `toSortableUtc` is null, which means
 * any age.
 */
const FIRST_INSTANT_MS = Date.parse('0000-01-01T00:00:00Z')

interface Removed {
  exports: number
  byteLength: number
}

export async function runExportsPrune(config: PruneConfig, io: CommandIo, stop: AbortSignal): Promise<ExitCode> {
  const { keep, olderThan } = config
  if (keep === undefined && olderThan === undefined) {
    throw new UsageError('say which exports to remove with --keep, --older-than, or both')
  }
  await using store = await openStoreToWrite(config)
  const before = olderThan === undefined ? null : cutoffOf((await store.earlierTime(io.clock())) - olderThan)
  // Opened before anything is removed, so that an interrupted run is recorded too.
  await using audit = await openCommandAudit(store, config, io)
  const removed: Removed = { exports: 0, byteLength: 0 }
  try {
    for await (const { id: userId } of usersOf(store, config.email)) {
      await pruneUser(store, { userId, keep: keep ?? DEFAULT_KEEP, before, after: '' }, removed, stop)
    }
  } catch (error) {
    if (removed.exports > 0) {
      audit.record({ kind: 'removal', result: 'failed', detail: `broken off at ${removed.exports} exports pruned` })
      io.stderr.write(`interrupted: ${inWords(removed)} so far; run it again to continue\n`)
    }
    if (!stop.aborted) throw error
    io.stderr.write('stopped: run it again to continue\n')
    return 1
  }
  io.stdout.write(`${inWords(removed)}\n`)
  if (removed.exports > 0) {
    audit.record({ kind: 'removal', result: 'done', detail: `${removed.exports} exports pruned` })
  }
  // Flushed even if nothing was removed: a run that was killed may have removed everything and left the bytes in the
  // files.
  await flushAndTell(store, config, io)
  return 0
}

function cutoffOf(time: number): string | null {
  return toSortableUtc(new Date(Math.max(FIRST_INSTANT_MS, time)).toISOString())
}

/** Adds the removed exports to `removed`. Throws the reason of `stop` once it is aborted. */
async function pruneUser(store: EditableStore, rule: PruneRule, removed: Removed, stop: AbortSignal): Promise<void> {
  for (let after: string | null = rule.after; after !== null; ) {
    stop.throwIfAborted()
    const pruned: Pruned = await store.pruneExports({ ...rule, after })
    removed.exports += pruned.exports
    removed.byteLength += pruned.byteLength
    after = pruned.next
    if (pruned.exports > 0 || after !== null) await delay(PAUSE_MS)
  }
}

function inWords({ exports, byteLength }: Removed): string {
  return `removed ${exports} ${exports === 1 ? 'export' : 'exports'} (${toSize(byteLength)})`
}

async function* usersOf(store: EditableStore, email: string | undefined): AsyncGenerator<StoredUser> {
  if (email !== undefined) {
    const user = await store.userByEmail(email)
    if (!user) throw new UsageError('--email: no workspace is stored for this email')
    yield user
    return
  }
  for await (const users of userPages(store)) yield* users
}
