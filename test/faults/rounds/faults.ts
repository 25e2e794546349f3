// The faults that are caused again and again under load: how each is caused, and what must follow.

import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import SqliteDatabase from 'better-sqlite3'
import { childrenOf } from '../../support/children-of.ts'
import { type Client, createClient, requireSession } from '../../support/client.ts'
import type { ServingProcess } from '../../support/command-line.ts'
import type { SmallDisk } from '../../support/small-disk.ts'
import { openSocket, requestText } from '../../support/wire.ts'
import type { Workload } from './workload.ts'

/** A user that nothing else in the workload uses. */
export const STATIC_EMAIL = 'static@example.com'
export const STATIC_REF = 'static'
/** The text in each element of the export of that user. */
export const STATIC_MARK = 'never-written-again'

const PAGE_BYTES = 8_192
/** How long the disk is full. */
const LASTS_MS = 150
const MAX_REFUSAL_MS = 30_000
const STALLED = 20
const WORKERS = 2
const MAX_START_MS = 30_000
const SEND_TIMEOUT_SECONDS = 1
export const SHUTDOWN_DELAY_SECONDS = 1

export interface Place {
  readonly path: string
  /** Sets which call the preloaded library makes fail. */
  readonly setFault: (fault: string) => void
  /** The disk of the database, if the fault needs one. */
  readonly disk: SmallDisk | null
  /** The access token of the static user. */
  readonly staticToken: string
}

export interface Fault {
  readonly name: string
  /** The options of `serve`. */
  readonly flags?: readonly string[]
  readonly needsDisk?: boolean
  /**
   * Causes the fault and returns how an operator undoes it. That is called after the process has ended, or while it
   * runs.
   */
  readonly make: (
    place: Place,
    serving: ServingProcess,
    workload: Workload,
  ) => Promise<(() => Promise<void> | void) | undefined>
  /** Runs while the process starts, which is awaited until it listens. */
  readonly atStart?: (child: ChildProcess) => Promise<void>
  /** The exit code of the process, or null if it continues. */
  readonly exitCode: number | 'killed' | null
  /** Runs before the fault is undone, and returns what is wrong. */
  readonly look?: (client: Client, workload: Workload) => Promise<string | null>
}

const isNotReady: Fault['look'] = async (client) => {
  const { status } = await client.get('/readyz').catch(() => ({ status: 0 }))
  return status === 503 ? null : `/readyz was answered ${status} during the fault`
}

/** Waits until a request has failed. Otherwise nobody may have met the temporary fault, and the round proves nothing. */
async function untilRefused(workload: Workload): Promise<void> {
  for (const deadline = performance.now() + MAX_REFUSAL_MS; workload.failedSince() === 0; ) {
    if (performance.now() > deadline) throw new Error('the fault was caused, but no request failed')
    await delay(5)
  }
}

const failing = (name: string, exitCode: Fault['exitCode']): Fault => ({
  name: `${name} fails`,
  async make({ setFault }, _, workload) {
    workload.mark()
    setFault(name)
    if (exitCode === null) await untilRefused(workload)
    return () => setFault('')
  },
  exitCode,
})

/** Causes the fault at one moment and keeps the files of that moment: nothing may be acknowledged after it. */
const taking = (name: string, take: (path: string) => void): Fault => ({
  name,
  async make({ path }, { process: child }) {
    for (;;) {
      child.kill('SIGSTOP')
      await untilStopped(child.pid ?? 0)
      // When the log is wholly in the database, the next write begins it anew, and nothing would be lost.
      if (holdsMore(`${path}-shm`)) break
      child.kill('SIGCONT')
      await delay(1)
    }
    for (const suffix of ['', '-wal']) cpSync(path + suffix, `${path}.then${suffix}`)
    take(path)
    child.kill('SIGCONT')
    return () => {
      for (const suffix of ['', '-wal']) renameSync(`${path}.then${suffix}`, path + suffix)
      rmSync(`${path}-shm`, { force: true })
    }
  },
  exitCode: 1,
})

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill -9',
    async make(_, { process: child }) {
      child.kill('SIGKILL')
      return undefined
    },
    exitCode: 'killed',
  },
  failing('fsync', 1),
  failing('write', 1),
  failing('read', 1),
  failing('full', null),
  {
    name: 'disk full',
    needsDisk: true,
    async make({ disk }) {
      disk?.fill()
      await delay(LASTS_MS)
      return () => disk?.empty()
    },
    exitCode: null,
    look: isNotReady,
  },
  {
    name: 'unreadable page',
    async make({ path, staticToken }, { url }) {
      const undo = damageStaticPages(path)
      using client = createClient(url)
      await client.get(`/exports?r=${STATIC_REF}`, staticToken).catch(() => {})
      return undo
    },
    exitCode: 1,
  },
  taking('database deleted', (path) => rmSync(path)),
  taking('-wal deleted', (path) => rmSync(`${path}-wal`)),
  taking('database replaced', (path) => {
    writeFileSync(`${path}.other`, 'of somebody else')
    renameSync(`${path}.other`, path)
  }),
  taking('database cut short', (path) => truncateSync(path, 5 * PAGE_BYTES)),
  taking('database emptied', (path) => truncateSync(path, 0)),
  taking('-wal cut short', (path) => truncateSync(`${path}-wal`, 0)),
  {
    name: 'stalled readers',
    flags: ['--send-timeout', String(SEND_TIMEOUT_SECONDS)],
    async make({ staticToken }, { url }) {
      const sockets = await Promise.all(Array.from({ length: STALLED }, () => stall(url, staticToken)))
      const closed = sockets.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())))
      // The sockets do not read, so only a write reveals that a connection was reset.
      const knocking = setInterval(() => {
        for (const socket of sockets) socket.write('x')
      }, 100)
      await Promise.race([
        Promise.all(closed),
        delay(30_000).then(() => Promise.reject(new Error('stalled readers were not closed in 30 s'))),
      ]).finally(() => clearInterval(knocking))
      return undefined
    },
    exitCode: null,
  },
  {
    name: 'worker killed, at its start too',
    flags: ['--workers', String(WORKERS)],
    async make(_, { process: child }) {
      const pid = child.pid ?? 0
      const before = await childrenOf(pid)
      process.kill(before[0] ?? 0, 'SIGKILL')
      return async () => {
        const isReplaced = (now: readonly number[]) => now.length === WORKERS && now[0] !== before[0]
        for (const deadline = performance.now() + MAX_START_MS; !isReplaced(await childrenOf(pid)); ) {
          if (performance.now() > deadline) throw new Error('the worker was not replaced in time')
          await delay(20)
        }
      }
    },
    async atStart({ pid = 0 }) {
      let [first] = await childrenOf(pid)
      for (; first === undefined; [first] = await childrenOf(pid)) await delay(1)
      process.kill(first, 'SIGKILL')
    },
    exitCode: null,
  },
  {
    name: 'SIGTERM, with a shutdown delay',
    flags: ['--shutdown-delay', String(SHUTDOWN_DELAY_SECONDS)],
    async make(_, { process: child }, workload) {
      workload.mark()
      child.kill('SIGTERM')
      await delay(SHUTDOWN_DELAY_SECONDS * 500)
      return undefined
    },
    exitCode: 0,
    async look(client, workload) {
      const failed = workload.failedSince()
      if (failed > 0) return `${failed} requests failed while it still served`
      return (await isNotReady?.(client, workload)) ?? null
    },
  },
  {
    name: 'SQLITE_BUSY',
    flags: ['--lock-timeout', '50'],
    async make({ path }, _, workload) {
      const other = new SqliteDatabase(path, { timeout: 5_000 })
      other.exec('begin immediate')
      workload.mark()
      await untilRefused(workload)
      return () => {
        other.exec('rollback')
        other.close()
      }
    },
    exitCode: null,
  },
]

/**
 * Damages every page that holds nothing but a part of the static export. Such a page continues a row that is too long
 * for one page, and begins with the number of the next page. Returns a function that restores the bytes.
 */
function damageStaticPages(path: string): () => void {
  const bytes = readFileSync(path)
  const kept = new Map<number, Buffer>()
  for (let at = bytes.indexOf(STATIC_MARK); at !== -1; at = bytes.indexOf(STATIC_MARK, at + 1)) {
    const page = Math.floor(at / PAGE_BYTES) * PAGE_BYTES
    if (bytes[page] === 0) kept.set(page, bytes.subarray(page, page + PAGE_BYTES))
  }
  if (kept.size === 0) throw new Error('there is no page of the static export in the file')
  const write = (contents: (page: number, before: Buffer) => Buffer) => {
    const file = openSync(path, 'r+')
    for (const [page, before] of kept) writeSync(file, contents(page, before), 0, PAGE_BYTES, page)
    closeSync(file)
  }
  write(() => randomBytes(PAGE_BYTES))
  return () => write((_, before) => before)
}

async function stall(url: string, accessToken: string): Promise<Socket> {
  const socket = await openSocket(url)
  socket.pause()
  const headers = [['Authorization', `Bearer ${accessToken}`] as const]
  socket.write(requestText({ target: `/exports?r=${STATIC_REF}`, headers }))
  return socket
}

/**
 * Says whether the log has frames that are not in the database yet; see
 * https://www.sqlite.org/walformat.html#the_wal_index_header_format.
 */
function holdsMore(sharedMemory: string): boolean {
  const bytes = readFileSync(sharedMemory)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const [frames, checkpointed] = [view.getUint32(16, true), view.getUint32(96, true)]
  return frames > checkpointed
}

async function untilStopped(pid: number): Promise<void> {
  while (!/^State:\tT/m.test(await readFile(`/proc/${pid}/status`, 'utf8'))) await delay(1)
}

/** Signs in the static user. */
export async function staticToken(client: Client): Promise<string> {
  return (await requireSession(client, STATIC_EMAIL)).accessToken
}
