// exports prune: old exports out, a few at a time. Broken off, it goes on when it is run again.
import { setTimeout as delay } from 'node:timers/promises'
import { canonicalEmail } from '../../auth/email.ts'
import { UsageError } from '../../errors.ts'
import { toSortableUtc } from '../../import-export/format/timestamp.ts'
import type { StoredUser } from '../../store/contract.ts'
import type { EditableStore } from '../../store/workspace-edits.ts'
import { flushAndTell } from '../flush-removals.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openCommandAudit } from '../open-audit.ts'
import { openStoreToWrite } from '../open-store-for-cli.ts'
import type { PruneConfig } from '../options/workspace-options.ts'
import { toSize } from '../progress.ts'

const USERS_PER_READ = 256
/** Long enough for somebody who asks for the write lock every millisecond to get it. */
const PAUSE_MS = 3
/** Of each project, when only an age is given: what GET /exports answers stays. */
const DEFAULT_KEEP = 1

export async function runExportsPrune(config: PruneConfig, io: CommandIo): Promise<ExitCode> {
  const { keep, olderThan } = config
  if (keep === undefined && olderThan === undefined) {
    throw new UsageError('say which exports go: --keep, --older-than, or both')
  }
  const before = olderThan === undefined ? null : toSortableUtc(new Date(io.clock() - olderThan).toISOString())
  await using store = await openStoreToWrite(config)
  let [exports, byteLength] = [0, 0]
  for await (const { id: userId } of usersOf(store, config.email)) {
    for (let isDone = false; !isDone; ) {
      const pruned = await store.pruneExports({ userId, keep: keep ?? DEFAULT_KEEP, before })
      exports += pruned.exports
      byteLength += pruned.byteLength
      isDone = pruned.isDone
      if (pruned.exports > 0) await delay(PAUSE_MS)
    }
  }
  io.stdout.write(`removed ${exports} ${exports === 1 ? 'export' : 'exports'} (${toSize(byteLength)})\n`)
  if (exports > 0) {
    await using audit = await openCommandAudit(store, config, io)
    audit.record({ kind: 'removal', result: 'done', detail: `${exports} exports pruned` })
  }
  // Also where nothing is left to remove: a run that was killed may have removed it all, and its bytes are in the files.
  await flushAndTell(store, config, io)
  return 0
}

async function* usersOf(store: EditableStore, input: string | undefined): AsyncGenerator<StoredUser> {
  if (input !== undefined) {
    const email = canonicalEmail(input)
    const user = email === null ? null : await store.userByEmail(email)
    if (!user) throw new UsageError('--email: no workspace is stored for this email')
    yield user
    return
  }
  for (let after = ''; ; ) {
    const users = await store.usersAfter(after, USERS_PER_READ)
    yield* users
    const last = users.at(-1)
    if (!last) return
    after = last.email
  }
}
