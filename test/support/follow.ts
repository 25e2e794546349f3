// Runs `follow`, in the process of the test or in one of its own, and reads the rounds that it reports.
import { EventEmitter } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { openTemporaryFile } from '../../src/cli/import/import-source.ts'
import { IMPORT_OPTIONS } from '../../src/cli/options/import-options.ts'
import { parseOptions } from '../../src/cli/options/option.ts'
import { createRemoteClient } from '../../src/import-export/remote/client.ts'
import { createFollower } from '../../src/import-export/remote/follow/follow.ts'
import type { EditableStore } from '../../src/store/workspace-edits.ts'
import { type Finished, type RunOptions, startRun } from './command-line.ts'

/** No pause between rounds, and no wait before a user that two rounds did not find is removed. */
const OPTIONS = { '--interval': '0', '--remove-after': '0', '--format': 'json' }

export interface ToldRound {
  readonly at: string
  readonly round: number
  readonly users: number
  readonly changed: number
  readonly unchanged: number
  readonly missing: number
  readonly waiting: number
  readonly doubted: number
  readonly removed: number
  readonly failed: number
  readonly outage: string | null
  readonly isServerDown: boolean
  readonly seconds: number
  readonly lagSeconds: number | null
  readonly requests: number
  readonly notModified: number
}

type FollowEnd = Pick<Finished, 'exitCode' | 'stderr'>

export interface Following {
  /** The next reported round. */
  readonly next: () => Promise<ToldRound>
  /** The first of the coming rounds for which `isSo` is true. */
  readonly until: (isSo: (round: ToldRound) => boolean) => Promise<ToldRound>
  /** Stops it with SIGTERM. May be called again. */
  readonly stop: () => Promise<FollowEnd>
}

/** Adds the options that the arguments do not set. */
function withOptions(args: readonly string[]): readonly string[] {
  return [...Object.entries(OPTIONS).flatMap((option) => (args.includes(option[0]) ? [] : option)), ...args]
}

export function startFollow(url: string, args: readonly string[], { clock = Date.now } = {}): Following {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = text(stderr)
  const signals = new EventEmitter()
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: false, clock }
  const ended = runCommandLine(['follow', url, ...withOptions(args)], io, signals).then(async (exitCode) => {
    for (const stream of [stdout, stderr]) stream.end()
    return { exitCode, stderr: await said }
  })
  return following(stdout, ended, () => signals.emit('SIGTERM'))
}

/** The part of `follow` that makes the rounds, one user after another, into a store of the test. */
export function openFollower(url: string, store: EditableStore, { areAbsentListsEmpty = false, maxOutageMs = 0 } = {}) {
  const { signal } = new AbortController()
  return createFollower({
    client: createRemoteClient(url, { headers: {}, maxOutageMs, stop: signal }),
    store,
    fields: parseOptions(IMPORT_OPTIONS, {}),
    openTemporaryFile,
    clock: Date.now,
    concurrency: 1,
    stop: signal,
    removeAfterMs: 0,
    areAbsentListsEmpty,
    mayRemoveMany: false,
    onFailed() {},
  })
}

/** The caller stops it. */
export function startFollowProcess(url: string, args: readonly string[], options: RunOptions = {}): Following {
  const { process, ended, kill } = startRun(['follow', url, ...withOptions(args)], options)
  const end = ended.then(({ exitCode, stderr }) => ({ exitCode, stderr }))
  return following(process.stdout ?? Readable.from([]), end, () => void kill('SIGTERM'))
}

function following(stdout: Readable, ended: Promise<FollowEnd>, stop: () => void): Following {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()

  async function next(): Promise<ToldRound> {
    const { value, done } = await lines.next()
    if (done) throw new Error(`follow has ended: ${JSON.stringify(await ended)}`)
    return JSON.parse(value)
  }

  return {
    next,
    async until(isSo) {
      for (;;) {
        const round = await next()
        if (isSo(round)) return round
      }
    },
    stop() {
      stop()
      return ended
    },
  }
}
