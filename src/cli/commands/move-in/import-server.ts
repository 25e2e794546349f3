// Implements `import` from another server of the contract: user by user, and resumes where the last run ended.
import { MachineError } from '../../../errors.ts'
import { countsInWords } from '../../../import-export/counts-in-words.ts'
import { eachOf } from '../../../import-export/each-of.ts'
import { createRemoteClient, OutageError, type RemoteClient } from '../../../import-export/remote/client.ts'
import { type MoveInOptions, moveIn, type RemoteUser, verifyAll } from '../../../import-export/remote/move-in.ts'
import { movedTo, statusInWords } from '../../../import-export/remote/redirect.ts'
import { DOCUMENT_KINDS } from '../../../store/reads-contract.ts'
import type { EditableStore } from '../../../store/workspace-edits.ts'
import { flushAndTell } from '../../flush-removals.ts'
import { openTemporaryFile } from '../../import/import-source.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { type DoneUsers, openDoneUsers } from '../../move-in/done-users.ts'
import { createLongWaits } from '../../move-in/long-waits.ts'
import { readHeaders, requireServerAddress } from '../../move-in/remote-address.ts'
import { readRemoteUsers } from '../../move-in/remote-users.ts'
import { reportSessionsLeft } from '../../move-in/sessions-left.ts'
import { addTaken, createTally, type Tally } from '../../move-in/tally.ts'
import { createUserProgress } from '../../move-in/user-progress.ts'
import { openActiveStore } from '../../open-active-store.ts'
import { openCommandAudit } from '../../open-audit.ts'
import { toStoreOptions } from '../../open-store-for-cli.ts'
import type { ImportConfig } from '../../options/import-options.ts'
import { tookInWords, toSize } from '../../progress.ts'

/** Interval between updates of the progress, beside those after each user: one user can take minutes. */
const UPDATE_MS = 1_000

export async function runServerImport(
  url: string,
  config: ImportConfig,
  io: CommandIo,
  stopSignal: () => AbortSignal,
): Promise<ExitCode> {
  const { concurrency, maxOutage: maxOutageMs, replace: isReplacement = false } = config
  const address = requireServerAddress(url, '--headers')
  const users = readRemoteUsers(config)
  const headers = readHeaders(config.headers)
  // Not before: each file may be a pipe whose writer never comes, and reading it heeds no signal.
  const stop = stopSignal()
  const onLongWait = createLongWaits(io)
  const client = createRemoteClient(address, { headers, maxOutageMs, isOutageShared: true, onLongWait, stop })
  try {
    await requireAnswer(client)
    await using store = await openActiveStore(config, toStoreOptions(config))
    await using state = await openState(address, config)
    const options = {
      store,
      fields: config,
      clock: io.clock,
      openTemporaryFile,
      isReplacement,
      mayLoseLists: [],
      mayClear: DOCUMENT_KINDS,
      mayEmptyWorkspace: true,
      mayLoseAllExports: true,
      client,
      concurrency,
      stop,
    }
    const failed = await importUsers(users, options, state, config, io)
    const isVerified = config.verify ? await verifyUsers(users, failed, options, io) : true
    if (failed.size === 0) await state?.forget()
    return failed.size === 0 && isVerified ? 0 : 1
  } catch (error) {
    if (!stop.aborted) throw error
    io.stderr.write('stopped: run it again to continue\n')
    return 1
  } finally {
    reportSessionsLeft(client, io)
  }
}

/** Throws before any work is done when the server does not answer, or redirects to another address. */
async function requireAnswer(client: RemoteClient): Promise<void> {
  const [path, { address }] = ['/projects', client]
  const answer = await client.send({ method: 'GET', path }).catch((error: unknown) => {
    throw error instanceof OutageError ? new MachineError(error.message, { cause: error }) : error
  })
  if (movedTo(answer, address, path) === null) return
  throw new MachineError(`GET ${address}${path} ${statusInWords(answer, address, path)}`)
}

async function openState(from: string, config: ImportConfig): Promise<DoneUsers | null> {
  const path = config.state ?? (config.emails === undefined ? undefined : `${config.emails}.state`)
  if (path === undefined) return null
  const { database: into, replace = false, idFields, refFields } = config
  return openDoneUsers(path, { from, into, replace, idFields, refFields })
}

/** Returns the users who could not be imported. */
async function importUsers(
  users: readonly RemoteUser[],
  options: MoveInOptions & { readonly store: EditableStore },
  state: DoneUsers | null,
  config: ImportConfig,
  io: CommandIo,
): Promise<ReadonlySet<RemoteUser>> {
  const { client, store } = options
  const failed = new Set<RemoteUser>()
  const start = performance.now()
  const left = await usersLeft(users, state, options)
  const tally = createTally()
  if (left.length < users.length) {
    io.stderr.write(`users imported by an earlier run: ${users.length - left.length}, left: ${left.length}\n`)
  }
  // Opened before anything is imported, so that an interrupted import is recorded too.
  await using audit = await openCommandAudit(store, config, io)
  try {
    using progress = createUserProgress(io, 'importing', left.length)
    const update = () => progress.update(tally.done + tally.missing + tally.failed, client.traffic().bytes)
    using _updates = setInterval(update, UPDATE_MS)
    await moveIn(left, options, {
      async onDone({ email }, taken) {
        addTaken(tally, taken)
        // A missing user is not recorded as done: a server that has just started may not have its data yet.
        if (taken.type !== 'missing') await state?.add(email)
        update()
      },
      onFailed(user, error) {
        failed.add(user)
        tally.failed += 1
        progress.say(`${user.label}: ${error.message}`)
        update()
      },
      onLeft(user) {
        failed.add(user)
        tally.failed += 1
        tally.left += 1
      },
    })
  } catch (error) {
    audit.record({ kind: 'import', result: 'failed', detail: `broken off: ${inWords(tally, config)}` })
    throw error
  }
  const summary = inWords(tally, config)
  audit.record({ kind: 'import', result: tally.failed === 0 ? 'done' : 'failed', detail: summary })
  if (tally.removed > 0) await flushAndTell(store, config, io)
  const took = tookInWords(client.traffic().bytes, start)
  io.stdout.write(`imported ${new URL(client.address).host}: ${summary} (${took})\n`)
  if (tally.missing > 0)
    io.stderr.write(`users without a workspace there, for whom nothing was imported: ${tally.missing}\n`)
  if (tally.partial > 0) {
    io.stderr.write(
      `users with a list that is 404 there although others are not, from which nothing was imported: ${tally.partial}\n`,
    )
  }
  if (tally.projects > 0 && tally.exports === 0) {
    io.stderr.write(
      `none of ${tally.projects} projects has an export there: if that is wrong, set --ref-fields to the members that GET /exports takes as r\n`,
    )
  }
  if (tally.left > 0)
    io.stderr.write(`users who were not asked for, because the server no longer answers: ${tally.left}\n`)
  if (tally.failed > 0) io.stderr.write(`${tally.failed} failed: run it again to import the rest\n`)
  return failed
}

/**
 * The users who still have to be imported. A user counts as done only when the state file names them and they are
 * stored here: a database that was restored, or another one under this name, may lack them.
 */
async function usersLeft(
  users: readonly RemoteUser[],
  state: DoneUsers | null,
  { store, concurrency }: MoveInOptions,
): Promise<readonly RemoteUser[]> {
  const done = new Set<RemoteUser>()
  await eachOf(state === null ? [] : users, concurrency, async (user) => {
    if (state?.has(user.email) && (await store.userByEmail(user.email)) !== null) done.add(user)
  })
  return users.filter((user) => !done.has(user))
}

function inWords(tally: Tally, { replace }: ImportConfig): string {
  const { done, missing, failed } = tally
  const users = `${done} ${done === 1 ? 'user' : 'users'}${missing > 0 ? `, ${missing} not there` : ''}${failed > 0 ? `, ${failed} failed` : ''}`
  return `${users}: ${countsInWords(tally, replace === true)}`
}

/**
 * Returns whether both sides hold the same. `notImported` are not compared: their reason has been reported, and an old
 * server that is down would be waited for again.
 */
async function verifyUsers(
  users: readonly RemoteUser[],
  notImported: ReadonlySet<RemoteUser>,
  options: MoveInOptions,
  io: CommandIo,
): Promise<boolean> {
  const imported = users.filter((user) => !notImported.has(user))
  const before = options.client.traffic().bytes
  const total = { users: 0, answers: 0, spacedOtherwise: 0, byteLength: 0, differing: 0, failed: 0 }
  {
    using progress = createUserProgress(io, 'verifying', imported.length)
    const update = () => progress.update(total.users + total.failed, options.client.traffic().bytes - before)
    using _updates = setInterval(update, UPDATE_MS)
    await verifyAll(imported, options, {
      async onDone({ label }, { differences, ...verified }) {
        total.users += 1
        for (const name of ['answers', 'spacedOtherwise', 'byteLength'] as const) total[name] += verified[name]
        if (differences.length > 0) total.differing += 1
        for (const { route, what } of differences) progress.say(`${label}: ${route} ${what}`)
        update()
      },
      onFailed({ label }, error) {
        total.failed += 1
        progress.say(`${label}: ${error.message}`)
        update()
      },
      onLeft() {
        total.failed += 1
      },
    })
  }
  const { differing, failed } = total
  const others = [
    ...(differing > 0 ? [`${differing} ${differing === 1 ? 'user differs' : 'users differ'}`] : []),
    ...(failed > 0 ? [`${failed} could not be compared`] : []),
    ...(notImported.size > 0 ? [`${notImported.size} not imported`] : []),
  ]
  const isSame = others.length === 0
  const spaced =
    total.spacedOtherwise > 0
      ? `; ${total.spacedOtherwise} answers there have different white space between documents`
      : ''
  io.stdout.write(
    `verified ${total.users} users, ${total.answers} answers, ${toSize(total.byteLength)}: ${isSame ? 'the same on both sides' : others.join(', ')}${spaced}\n`,
  )
  if (differing > 0)
    io.stderr.write(
      'the differences may be changes since the import: import again, with --replace if lists are in another order\n',
    )
  return isSame
}
