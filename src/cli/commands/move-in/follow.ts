// follow: keeps the workspaces here in sync with another server of the contract, until clients switch over.
import { setTimeout as delay } from 'node:timers/promises'
import { createRemoteClient } from '../../../import-export/remote/client.ts'
import { createFollower, type Follower } from '../../../import-export/remote/follow/follow.ts'
import type { Round } from '../../../import-export/remote/follow/round.ts'
import type { RemoteUser } from '../../../import-export/remote/move-in.ts'
import { LossError } from '../../../import-export/remote/refusals/loss.ts'
import { OtherFieldsError } from '../../../import-export/remote/refusals/same-fields.ts'
import { backoffMs } from '../../../import-export/remote/retry.ts'
import { StoreUnavailableError } from '../../../store/contract.ts'
import type { EditableStore } from '../../../store/workspace-edits.ts'
import { flushAndTell } from '../../flush-removals.ts'
import { openTemporaryFile } from '../../import/import-source.ts'
import type { CommandContext, CommandIo, ExitCode } from '../../io.ts'
import { createFollowMetrics, openFollowMetrics } from '../../move-in/follow-metrics.ts'
import { createLongWaits } from '../../move-in/long-waits.ts'
import { readHeaders, requireServerAddress } from '../../move-in/remote-address.ts'
import { openRemoteUsers } from '../../move-in/remote-users.ts'
import { reportSessionsLeft } from '../../move-in/sessions-left.ts'
import { openActiveStore } from '../../open-active-store.ts'
import { openCommandAudit } from '../../open-audit.ts'
import { toStoreOptions } from '../../open-store-for-cli.ts'
import type { FollowConfig } from '../../options/move-in/follow-options.ts'
import { createLiveLine } from '../../progress.ts'
import { writeLine } from '../../write-line.ts'

/** How long one round waits for a server that is away. It is short because the next round asks again. */
const MAX_OUTAGE_MS = 2_000
/** With --once no other round asks again: a server that limits requests would never let it end. */
const MAX_OUTAGE_OF_ONCE_MS = 60_000
const ADVICE = '--remove-many removes what they have here'
/** For a loss that a later round must confirm: another run with --once does not. */
const NOT_ONCE =
  ': the user is left unchanged; --once removes none of it: run follow without --once for longer than --remove-after, or with --remove-many'

export async function runFollow(
  url: string,
  config: FollowConfig,
  io: CommandIo,
  { stopSignal, leaveUnread }: Pick<CommandContext, 'stopSignal' | 'leaveUnread'>,
): Promise<ExitCode> {
  const address = requireServerAddress(url, '--headers')
  const progress = createLiveLine(io)
  // The list of users is checked first, so that a problem in it is reported before anything is done.
  const readUsers = openRemoteUsers(config, (reason) => {
    progress.clear()
    io.stderr.write(`${reason}: continuing with the users that it named before\n`)
  })
  const headers = readHeaders(config.headers)
  // Not before: each file may be a pipe whose writer never comes, and reading it heeds no signal.
  const stop = stopSignal()
  using output = new DisposableStack()
  output.defer(() => {
    if (stop.aborted) leaveUnread()
  })
  const client = createRemoteClient(address, {
    headers,
    maxOutageMs: config.once === true ? MAX_OUTAGE_OF_ONCE_MS : MAX_OUTAGE_MS,
    onLongWait: createLongWaits(io),
    stop,
  })
  await using store = await openActiveStore(config, toStoreOptions(config))
  const { concurrency } = config
  let roundCount = 0
  let users = 0
  using end = new DisposableStack()
  // Deferred before the follower is created, so it runs after the follower has signed out of all sessions.
  end.defer(() => reportSessionsLeft(client, io))
  await using follower = createFollower({
    store,
    fields: config,
    clock: io.clock,
    openTemporaryFile,
    client,
    concurrency,
    stop,
    removeAfterMs: config.removeAfter,
    areAbsentListsEmpty: config.absentListsAreEmpty === true,
    mayRemoveMany: config.removeMany === true,
    onFailed({ label }, error) {
      progress.clear()
      const hint = hintFor(error, config)
      io.stderr.write(`${label}: ${error.message}${hint}\n`)
    },
    onUser: (done) =>
      progress.update(() => `following: ${done} of ${users} users, ${lagInWords(follower.lagSeconds())}`),
  })
  const metrics = createFollowMetrics(follower, client.traffic)
  await using _metrics = await openFollowMetrics(config, metrics, store.ping, io)
  const rounds = roundsOf(follower, config.interval, stop, () => {
    const named = readUsers()
    users = named.length
    return named
  })
  let isDone = false
  let isFlushDue = false
  try {
    for await (const round of rounds) {
      progress.clear()
      metrics.onRound(round)
      roundCount += 1
      if (round.removed > 0) isFlushDue = true
      if (isFlushDue) isFlushDue = !(await flushOrTell(store, config, io))
      const { requests, notModified } = client.traffic()
      await writeLine(io.stdout, formatRound({ round: roundCount, ...round, requests, notModified }, config, io), stop)
      if (!config.once) continue
      isDone = round.failed + round.waiting === 0 && round.outage === null && !isFlushDue
      return isDone ? 0 : 1
    }
    return 0
  } catch (error) {
    if (!stop.aborted) throw error
    // With --once the operator switches over next, so an interrupted round counts as failed.
    isDone = config.once !== true
    if (isDone) return 0
    io.stderr.write('stopped before all users were read: run it again\n')
    return 1
  } finally {
    await using audit = await openCommandAudit(store, config, io)
    const { added, replaced, removed } = follower.changes()
    const detail = `follow: ${added} added, ${replaced} replaced, ${removed} removed`
    audit.record({ kind: 'import', result: isDone ? 'done' : 'failed', detail })
  }
}

/** Returns false when the database is unavailable. */
async function flushOrTell(
  store: Pick<EditableStore, 'flushRemovals'>,
  config: FollowConfig,
  io: CommandIo,
): Promise<boolean> {
  try {
    await flushAndTell(store, config, io)
    return true
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    io.stderr.write(`removed data is still in the files of the database: ${error.message}\n`)
    return false
  }
}

/** Yields rounds until `stop` is aborted. Reads the list of users again before each round. */
async function* roundsOf(
  follower: Follower,
  intervalMs: number,
  stop: AbortSignal,
  readUsers: () => readonly RemoteUser[],
): AsyncGenerator<Round> {
  for (let outages = 0; ; ) {
    const round = await follower.round(readUsers())
    yield round
    outages = round.outage === null ? 0 : outages + 1
    const pauseMs = outages > 0 ? Math.max(intervalMs, backoffMs(outages)) : intervalMs
    await delay(pauseMs, undefined, { signal: stop }).catch(() => stop.throwIfAborted())
  }
}

/** `lagSeconds` is null until the first user was in sync. */
function lagInWords(lagSeconds: number | null): string {
  return lagSeconds === null ? 'lag not known yet' : `lag ${lagSeconds.toFixed(1)} s`
}

type Told = Round & {
  readonly round: number
  /** Requests since the start of the command; so is `notModified`. */
  readonly requests: number
  readonly notModified: number
}

function formatRound(told: Told, { format, once }: FollowConfig, { clock }: CommandIo): string {
  const at = new Date(clock()).toISOString()
  if (format === 'json') return JSON.stringify({ at, ...told })
  const { round, users, changed, missing, failed, waiting, doubted, outage, seconds, lagSeconds } = told
  const parts = [
    `${users} users in ${seconds.toFixed(1)} s`,
    `${changed} changed`,
    ...(missing > 0 ? [`${missing} not there`] : []),
    `${failed} failed`,
    lagInWords(lagSeconds),
    ...(outage === null ? [] : [outage]),
    // Without --once, a later round removes what these users have here. Doubted users are counted below, and after an
    // outage nothing is to be removed.
    ...(once && waiting > 0 && doubted === 0 && outage === null
      ? [`users who are not there but still have a workspace here: ${waiting} (${ADVICE})`]
      : []),
    ...(doubted === 0
      ? []
      : [
          `${doubted} users no longer have a workspace there, or have an empty one, which is too many to be trusted: ${ADVICE}`,
        ]),
  ]
  return `${at} round ${round}: ${parts.join(', ')}`
}

function hintFor(error: Error, { absentListsAreEmpty, once }: FollowConfig): string {
  if (error instanceof OtherFieldsError)
    return ': the user is left unchanged; give the --id-fields and --ref-fields of the import, or --remove-many to remove these exports'
  if (!(error instanceof LossError)) return ''
  if (error.type === 'lists' && !absentListsAreEmpty) {
    const without = once ? ' without --once' : ''
    return `: the user is left unchanged; --remove-many treats that list as empty, and --absent-lists-are-empty does so after a while${without}`
  }
  if (error.type === 'emptyLists')
    return ': the user is left unchanged, because many users are affected at once; --remove-many removes the documents'
  if (once) return NOT_ONCE
  if (error.type === 'lists')
    return ': the user is left unchanged; the list is emptied here if this lasts as long as --remove-after says, unless nobody has such documents there or many users are affected at once, or immediately with --remove-many'
  return ': the user is left unchanged; what is missing there is removed here if this lasts as long as --remove-after says, unless many users are affected at once, or immediately with --remove-many'
}
