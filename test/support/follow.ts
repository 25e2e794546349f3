// `follow` in the process of the test, and its rounds as they are told.
import { EventEmitter } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommandLine } from '../../src/cli/command-line.ts'

export interface ToldRound {
  readonly round: number
  readonly users: number
  readonly changed: number
  readonly unchanged: number
  readonly missing: number
  readonly failed: number
  readonly outage: string | null
  readonly lagSeconds: number
  readonly requests: number
  readonly notModified: number
}

export interface Following {
  /** The next one that is told. */
  readonly next: () => Promise<ToldRound>
  /** The first one of those that come that is so. */
  readonly until: (isSo: (round: ToldRound) => boolean) => Promise<ToldRound>
  /** As by SIGTERM. Answers how it ended, with what it said on stderr. */
  readonly stop: () => Promise<{ readonly exitCode: number; readonly stderr: string }>
}

/** Without a pause between rounds. */
export function startFollow(url: string, args: readonly string[]): Following {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = text(stderr)
  const signals = new EventEmitter()
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: false, clock: Date.now }
  const ended = runCommandLine(['follow', url, '--interval', '0', '--format', 'json', ...args], io, signals)
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  ended.then(() => stdout.end())

  async function next(): Promise<ToldRound> {
    const { value, done } = await lines.next()
    if (done) throw new Error('follow has ended')
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
    async stop() {
      signals.emit('SIGTERM')
      const exitCode = await ended
      stderr.end()
      return { exitCode, stderr: await said }
    },
  }
}
