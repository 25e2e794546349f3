// Runs the program as a user does, in a process of its own, or only its command line in this process.
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { PassThrough, Readable, Transform } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { beforeAll, onTestFinished } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { PROGRAM } from './program.ts'
import { searchLog } from './searched-logs.ts'
import { makeDirectory, removeDirectory } from './temporary-directory.ts'

export interface Finished {
  /** Null when the process was killed. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** The limit of open files for the process; by default the limit of this one. */
  readonly maxOpenFiles?: number
  /** The main file of another copy of the program. */
  readonly program?: string
  /** Whom it runs as; as whom this one runs otherwise. */
  readonly user?: { readonly uid?: number; readonly gid?: number }
}

export interface Running {
  readonly process: ChildProcess
  readonly ended: Promise<Finished>
  readonly isRunning: () => boolean
  /** Sends SIGKILL, or another signal, and waits for the end. */
  readonly kill: (signal?: NodeJS.Signals) => Promise<Finished>
}

/** Runs a command to its end. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return startRun(args, options).ended
}

/** Starts a command, which the caller may kill before it is done. */
export function startRun(args: readonly string[], options: RunOptions = {}): Running {
  const child = start(args, options)
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  // A command that fails may end before it has read all of its input.
  child.stdin?.on('error', () => {}).end(options.stdin ?? '')
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, stdout: stdout(), stderr: stderr() }))
  return {
    process: child,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill(signal = 'SIGKILL') {
      child.kill(signal)
      return ended
    },
  }
}

interface HereOptions extends Pick<RunOptions, 'stdin'> {
  readonly clock?: () => number
  /** The signals that the command is sent are emitted here. */
  readonly signals?: EventEmitter
}

/** Runs a command to its end in this process, for tests that would learn nothing more from a process of its own. */
export async function runHere(
  args: readonly string[],
  { stdin = '', clock = Date.now, signals = new EventEmitter() }: HereOptions = {},
): Promise<Finished> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const collected = Promise.all([text(stdout), text(stderr)])
  const io = { stdin: Readable.from([stdin]), stdout, stderr, isTerminal: false, clock }
  const exitCode = await runCommandLine(args, io, signals)
  for (const stream of [stdout, stderr]) stream.end()
  const [out, err] = await collected
  return { exitCode, stdout: out, stderr: err }
}

/** Like `startRun`, but the process is killed at the end of the test. */
export function startRunForTest(args: readonly string[], options: RunOptions = {}): Running {
  const running = startRun(args, options)
  onTestFinished(async () => void (await running.kill()))
  return running
}

export interface Serving {
  readonly url: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>
  /** Sends the signal and waits for the end. */
  readonly kill: (signal: NodeJS.Signals) => Promise<number | null>
}

export interface ServingProcess extends Serving {
  readonly process: ChildProcess
}

/** Starts `serve` on a free port and waits until it listens. The caller kills it. */
export function serve(
  args: readonly string[],
  options: RunOptions = {},
  onStarted: (child: ChildProcess) => void = () => {},
): Promise<ServingProcess> {
  const child = start(serveArguments(args), options)
  onStarted(child)
  return untilListening(child)
}

/** On a free port, unless the arguments name one. */
function serveArguments(args: readonly string[]): readonly string[] {
  return ['serve', ...(args.includes('--port') ? [] : ['--port', '0']), ...args]
}

async function untilListening(child: ChildProcess): Promise<ServingProcess> {
  const exited = once(child, 'close').then(([exitCode]): number | null => exitCode)
  const serving = await listening(child, exited, (signal) => child.kill(signal))
  return { ...serving, process: child }
}

async function listening(
  output: Pick<ChildProcess, 'stdout' | 'stderr'>,
  exited: Promise<number | null>,
  send: (signal: NodeJS.Signals) => void,
): Promise<Serving> {
  const [stdout, stderr] = [collect(output.stdout), collect(output.stderr)]
  searchLog(stderr)
  while (!/^listening on \S+$/m.test(stdout())) {
    const heard = output.stdout && once(output.stdout, 'data')
    const event = await Promise.race([heard, exited.then(() => 'exited' as const)])
    if (event === 'exited') throw new Error(`serve ended before it listened: ${stderr()}`)
  }
  const url = /^listening on (\S+)$/m.exec(stdout())?.[1] ?? ''
  return {
    url,
    stdout,
    stderr,
    ended: exited,
    kill(signal) {
      send(signal)
      return exited
    },
  }
}

/**
 * Like `serveForTest`, but in this process, which has loaded the program already: for tests that would learn nothing
 * more from a process of its own.
 */
export function serveHereForTest(args: readonly string[], { clock = Date.now } = {}): Promise<Serving> {
  const [stdout, stderr] = [copying(), copying()]
  const signals = new EventEmitter()
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: false, clock }
  const serve = async () => {
    const exitCode = await runCommandLine(serveArguments(args), io, signals)
    await Promise.all([stdout, stderr].map((stream) => finished(stream.end())))
    return exitCode
  }
  const ended = serve()
  onTestFinished(async () => {
    signals.emit('SIGTERM')
    await ended
  })
  return listening({ stdout, stderr }, ended, (signal) => signals.emit(signal))
}

/** Like `serve`, but the process is killed at the end of the test. */
export async function serveForTest(args: readonly string[], options: RunOptions = {}): Promise<ServingProcess> {
  const child = start(serveArguments(args), options)
  const exited = once(child, 'close')
  // The process must end even if it never listens and the test fails for that reason.
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return untilListening(child)
}

/** Serves the demo workspace to all tests of the surrounding `describe`. */
export function shareDemoGateway(): { readonly url: () => string } {
  let url = ''
  beforeAll(async () => {
    const cwd = makeDirectory()
    const serving = await serve([], { cwd })
    url = serving.url
    return async () => {
      await serving.kill('SIGKILL')
      removeDirectory(cwd)
    }
  })
  return { url: () => url }
}

function start(args: readonly string[], { cwd, env, maxOpenFiles, program = PROGRAM, user }: RunOptions): ChildProcess {
  const options = { ...user, ...(cwd ? { cwd } : {}), env: { ...process.env, ...env } }
  if (maxOpenFiles === undefined) return spawn(process.execPath, [program, ...args], options)
  const limited = `ulimit -n ${maxOpenFiles} && exec "$@"`
  return spawn('/bin/sh', ['-c', limited, 'sh', process.execPath, program, ...args], options)
}

/** Passes on a copy of each chunk, because the access log reuses the memory of a chunk that was taken. */
function copying(): Transform {
  return new Transform({ transform: (chunk, _encoding, done) => done(null, Buffer.from(chunk)) })
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = []
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}
