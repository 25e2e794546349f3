// move: copies everything, with sessions and keys, from one database to another, while gateways serve (--online) or
// not.
import { reasonOf, UsageError } from '../../errors.ts'
import { type MoveCounts, move } from '../../migration/offline.ts'
import { moveOnline, type OnlineReport } from '../../migration/online.ts'
import { MoveError } from '../../migration/row-copies.ts'
import { redact } from '../../redact.ts'
import { StoreUnavailableError, type TracesLeftError } from '../../store/contract.ts'
import type { MigratableStore } from '../../store/cutover/contract.ts'
import { usersOfDatabase } from '../../store/inspection/inspection.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openStoreForCli, toStoreOptions } from '../open-store-for-cli.ts'
import type { MoveConfig } from '../options/move-options.ts'
import { createLiveLine } from '../progress.ts'
import { tracesInWords } from './keys/tell-traces.ts'

/** Only a run that copied has compared. */
const COMPARED = 'all compared by digest'

export async function runMove(config: MoveConfig, io: CommandIo, stop: AbortSignal): Promise<ExitCode> {
  const { from, to, cancel, online, maxPause } = config
  if (cancel) return cancelMove(config, io)
  if (to === undefined) throw new UsageError('--to (WORKSPACE_GATEWAY_TO): must be given')
  if (from === to) throw new UsageError('--from and --to are the same database')
  if (!online) await warnOfUsers({ ...config, to }, io)
  await using source = await openStoreForCli({ ...config, database: from }, true)
  await using target = await openStoreForCli({ ...config, database: to })
  const start = performance.now()
  const progress = createMoveProgress(io)
  try {
    const onTracesLeft = (error: TracesLeftError) => {
      progress.clear()
      io.stderr.write(`about a retired key: ${tracesInWords(error)}\n`)
    }
    const options = { onProgress: progress.update, stop, onTracesLeft }
    const onCancelFailed = (error: unknown) => {
      progress.clear()
      io.stderr.write(
        `--from may still record changes (${redact(reasonOf(error))}): run it again, or run it with --cancel\n`,
      )
    }
    const text = online
      ? await runOnline(source, target, { ...options, maxPauseMs: maxPause, onPhase: progress.say, onCancelFailed })
      : `${fingerprint(await move(source, target, options))}; ${COMPARED}`
    progress.clear()
    const seconds = ((performance.now() - start) / 1_000).toFixed(1)
    io.stdout.write(`moved ${text} (${seconds} s)\n`)
    return 0
  } catch (error) {
    progress.clear()
    // The cutover of an online move cannot be undone, and a later step may still fail.
    const isMoved = online ? await hasMoved(source) : false
    if (stop.aborted && isMoved === false) {
      io.stderr.write('stopped: --from continues as before; run it again to resume\n')
    } else if (error instanceof MoveError) {
      io.stderr.write(`${error.message}\n`)
    } else {
      if (isMoved) io.stderr.write('--from has moved: run it again, so that --to takes over\n')
      throw await withSide(error, { '--to': target, '--from': source })
    }
    return 1
  }
}

/** The same error with the side in front whose database cannot be used now: the messages of both are alike. */
async function withSide(error: unknown, sides: Readonly<Record<string, MigratableStore>>): Promise<unknown> {
  if (!(error instanceof StoreUnavailableError)) return error
  for (const [option, store] of Object.entries(sides)) {
    try {
      await store.ping()
    } catch {
      return new StoreUnavailableError(`${option}: ${error.message}`, { cause: error })
    }
  }
  return error
}

/** Null when the source no longer answers. */
async function hasMoved(source: MigratableStore): Promise<boolean | null> {
  try {
    return (await source.moveState()).phase === 'moved'
  } catch {
    return null
  }
}

/** Warns when somebody uses a side: a forgotten gateway may still write to `--from`, or already to `--to`. */
async function warnOfUsers(config: MoveConfig & { readonly to: string }, { stderr }: CommandIo): Promise<void> {
  for (const [side, warning] of [
    ['from', FROM_IS_USED],
    ['to', TO_IS_USED],
  ] as const) {
    // A database that cannot be inspected now is reported when it is opened.
    const users = await usersOfDatabase(config[side], toStoreOptions(config)).catch(() => [])
    if (users.length > 0) stderr.write(`warning: --${side} is in use (${users.join(', ')}): ${warning}\n`)
  }
}

const FROM_IS_USED =
  'data that is written there from now on may not be moved. ' +
  'Stop the programs that serve or import there and run this again, or move with --online'
const TO_IS_USED = 'data that is written there from now on may be removed. Stop the programs that serve or import there'

async function cancelMove(config: MoveConfig, io: CommandIo): Promise<ExitCode> {
  await using source = await openStoreForCli({ ...config, database: config.from }, true)
  await source.cancelMove(null)
  const { phase } = await source.moveState()
  if (phase === 'live') {
    io.stdout.write('nothing of a move is left in --from\n')
    return 0
  }
  io.stderr.write(
    phase === 'moved'
      ? 'too late: --from has moved\n'
      : 'nothing to cancel: --from is not the source of a move but its target\n',
  )
  return 1
}

async function runOnline(
  source: MigratableStore,
  target: MigratableStore,
  options: Parameters<typeof moveOnline>[2],
): Promise<string> {
  const report = await moveOnline(source, target, options)
  return report === null ? 'before: --to has taken over already' : onlineInWords(report)
}

function onlineInWords({ counts, usersAgain, sessionsAgain, attempts, pauseMs }: OnlineReport): string {
  const again = `${usersAgain} users and ${sessionsAgain} sessions copied again because they changed meanwhile`
  const times = attempts > 1 ? ` on attempt ${attempts}` : ''
  return `${fingerprint(counts)}; ${again}; writes were stopped for ${Math.ceil(pauseMs)} ms${times}; --to has taken over; ${COMPARED}`
}

function createMoveProgress(io: CommandIo) {
  const start = performance.now()
  const line = createLiveLine(io)

  function inWords(counts: Readonly<MoveCounts>): string {
    const seconds = Math.max(performance.now() - start, 1) / 1_000
    const perSecond = Math.round((counts.documents + counts.exports) / seconds).toLocaleString('en')
    return `moving: ${fingerprint(counts)}; ${perSecond} documents and exports/s`
  }

  return {
    update: (counts: Readonly<MoveCounts>) => line.update(() => inWords(counts)),
    say: line.show,
    clear: line.clear,
  }
}

function fingerprint({ users, usersThereBefore, documents, exports, sessions, keys }: Readonly<MoveCounts>): string {
  const before = usersThereBefore > 0 ? ` (${usersThereBefore} were there already)` : ''
  return `${users} users${before}, ${documents} documents, ${exports} exports, ${sessions} sessions, ${keys} signing keys`
}
