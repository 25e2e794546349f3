// The command line: registers every command, stops it on a signal, and maps errors to exit codes. Only this file reads
// the arguments, the environment and the streams of the process.
import { fstatSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { Command, CommanderError } from 'commander'
import { KeyUnreadableError } from '../auth/tokens/key-cipher.ts'
import { MachineError, reasonOf, UsageError } from '../errors.ts'
import { redact } from '../redact.ts'
import {
  StoreFaultError,
  StoreNotWritableError,
  StoreOpenError,
  StoreRefusedError,
  StoreSessionLostError,
  StoreUnavailableError,
} from '../store/contract.ts'
import { addAccessCommands, addSignInCommands } from './access-commands.ts'
import { addConfigCommands, problemsOfServe } from './configuration/config-commands.ts'
import { createDescribedCommands, type DescribedCommands } from './configuration/described-commands.ts'
import { addMissingCommandErrors } from './configuration/missing-command.ts'
import { type Environment, examineSettings } from './configuration/settings.ts'
import { DOCTOR_OPTIONS } from './doctor/doctor-options.ts'
import { describeUnexpected } from './failures/unexpected-error.ts'
import type { CommandContext, CommandIo, ExitCode } from './io.ts'
import { addMoveInCommands } from './move-in/add-move-in-commands.ts'
import { DUMP_OPTIONS } from './options/dump-options.ts'
import { HEALTH_OPTIONS } from './options/health/health-options.ts'
import { IMPORT_OPTIONS } from './options/import-options.ts'
import { MOVE_OPTIONS } from './options/move-options.ts'
import { optionName, parseOptions } from './options/option.ts'
import { LEDGER_OPTIONS } from './options/retirement/ledger-options.ts'
import { SERVE_OPTIONS } from './options/serve-options.ts'
import { toUsageError } from './read-key-cipher.ts'
import { packageVersion } from './serving/package-version.ts'
import { announceEnd, isLaterWorker } from './workers/announced-end.ts'
import { type Signals, stopSignal } from './workers/stop-signal.ts'
import { addWorkspaceCommands } from './workspace-commands.ts'

const FAILED = 1
const WRONG_USAGE = 2
/** Errors of stdout that have been reported, so that a command that ends with one of them does not repeat it. */
const stdoutErrors = new WeakSet<WeakKey>()
/** File descriptors. */
const STDIN = 0
const STDOUT = 1
/** The name by which a terminal says that it knows no escape codes (terminfo), such as a shell in Emacs. */
const DUMB_TERMINAL = 'dumb'
/** How long `serve` and `follow` wait after they have stopped, for output that its reader has not taken yet. */
const READER_GRACE_MS = 1_000

/** Runs one command and returns the exit code. Never rejects for an error of the command. */
export async function runCommandLine(
  args: readonly string[] = process.argv.slice(2),
  io: CommandIo = processIo(),
  signals: Signals = process,
): Promise<number> {
  let exitCode: ExitCode = 0
  const program = createProgram(io, signals, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(helpAsOption(args), { from: 'user' })
    return exitCode
  } catch (error) {
    return await report(error, io)
  }
}

/**
 * Creates every command with its options. The code of a command is loaded when it runs, so that --help and import do
 * not load what serve needs. `onExit` receives the exit code; `commands` collects the options of each command.
 * @internal
 */
export function createProgram(
  io: CommandIo,
  signals: Signals,
  onExit: (code: ExitCode) => void,
  commands: DescribedCommands = createDescribedCommands(),
): Command {
  const program = new Command('workspace-gateway')
    .description("A signed-in user's design workspace over REST and GraphQL.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .configureHelp({ showGlobalOptions: true })
  const { describe } = commands
  const environment: Environment = process.env
  program.hook('preAction', (_, command) => {
    // `serve` reports them in its log.
    if (command.name() !== 'serve') endWhenUncaught(signals, (error) => void report(error, io))
    return configure(command, commands, environment)
  })

  describe(program.command('serve'), SERVE_OPTIONS, problemsOfServe)
    .description('serve REST and GraphQL until SIGTERM or SIGINT')
    .action(async (values) => {
      outliveOutput(io)
      const { runServe } = await import('./commands/serve.ts')
      onExit(
        await runServe(parseOptions(SERVE_OPTIONS, values), io, {
          stopSignal: () => stopSignal(signals),
          onReload: (listener) => signals.on('SIGHUP', listener),
          onUncaught: (report) => endWhenUncaught(signals, report),
          environment,
        }),
      )
      leaveUnread(io)
    })
  describe(program.command('health'), HEALTH_OPTIONS, undefined, 'serve')
    .description('ask a running gateway whether it is ready: exit code 0 or 1')
    .argument('[url]', 'its address, including the base path (default: where serve with the same options listens)')
    .action(async (url: string | undefined, values) => {
      const { runHealth } = await import('./commands/health/health.ts')
      onExit(await runHealth(url, parseOptions(HEALTH_OPTIONS, values), io))
    })
  describe(program.command('import'), IMPORT_OPTIONS)
    .description('import workspaces from NDJSON; a gateway may serve meanwhile')
    .argument(
      '<source>',
      'an NDJSON file, - for stdin, or an http(s):// address: of such a file or, with --email or --emails, of a server',
    )
    .action(async (source: string, values) => {
      const { runImport } = await import('./commands/import.ts')
      onExit(await runImport(source, parseOptions(IMPORT_OPTIONS, values), io, () => stopSignal(signals)))
    })
  describe(program.command('dump'), DUMP_OPTIONS)
    .description('write all workspaces as NDJSON, for import')
    .action(async (values) => {
      const { runDump } = await import('./commands/dump.ts')
      onExit(await runDump(parseOptions(DUMP_OPTIONS, values), io, () => stopSignal(signals)))
    })
  describe(program.command('move'), MOVE_OPTIONS)
    .description(
      'copy everything into another database, including sessions and keys, and compare it; run again to resume',
    )
    .action(async (values) => {
      const { runMove } = await import('./commands/move.ts')
      onExit(await runMove(parseOptions(MOVE_OPTIONS, values), io, stopSignal(signals)))
    })
  describe(program.command('ledger'), LEDGER_OPTIONS)
    .description('show which clients still call which REST route, how often and when last')
    .action(async (values) => {
      const { runLedger } = await import('./commands/moving/ledger.ts')
      onExit(await runLedger(parseOptions(LEDGER_OPTIONS, values), io))
    })
  describe(program.command('doctor'), DOCTOR_OPTIONS, undefined, 'serve')
    .description('check a gateway from inside and through its proxies; report what is wrong, and what fixes it')
    .argument('[url]', 'where clients reach the gateway, such as https://gateway.example.com')
    .action(async (url: string | undefined, values) => {
      const { runDoctor } = await import('./doctor/doctor.ts')
      onExit(await runDoctor(url, parseOptions(DOCTOR_OPTIONS, values), io, environment))
    })
  const context: CommandContext = {
    io,
    onExit,
    stopSignal: () => stopSignal(signals),
    leaveUnread: () => leaveUnread(io),
  }
  addWorkspaceCommands(program, describe, context)
  addAccessCommands(program, describe, context)
  addConfigCommands(program, commands, environment, io, onExit)
  addMoveInCommands(program, describe, context)
  addSignInCommands(program, describe, context)
  addMissingCommandErrors(program)
  return program
}

/**
 * Rewrites `help keys rotate` to `keys rotate --help`: commander would answer with the help of `keys`. It does not know
 * the command `help` itself.
 */
function helpAsOption(args: readonly string[]): readonly string[] {
  const [first, ...words] = args
  if (first === 'help' && words.join(' ') === 'help') return ['help']
  return first === 'help' && words.length > 1 ? [...words, '--help'] : args
}

/** Sets every option from flag, environment, file or default, before the command reads it. */
async function configure(command: Command, commands: DescribedCommands, environment: Environment): Promise<void> {
  const described = commands.find(command)
  if (!described) return
  const { settings, problems, unread } = examineSettings(described, commands.all(), environment)
  if (problems.length > 0) {
    const values = Object.fromEntries(settings.map(({ row, value }) => [optionName(row), value]))
    const further = await described.furtherProblems(values, unread, environment)
    throw new UsageError([...problems, ...further].join('\n'))
  }
  for (const { row, value, source } of settings) {
    command.setOptionValueWithSource(optionName(row), value, source)
  }
}

async function report(error: unknown, { stderr }: Pick<CommandIo, 'stderr'>): Promise<number> {
  const { exitCode, message } = toFailure(error)
  if (message === null) return exitCode
  const text = redact(message)
  if (isLaterWorker(process.env)) await announceEnd(text)
  else stderr.write(`${text}\n`)
  return exitCode
}

interface Failure {
  readonly exitCode: number
  /** Null when there is nothing to print, or commander has printed it. */
  readonly message: string | null
}

function toFailure(error: unknown): Failure {
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : WRONG_USAGE, message: null }
  if (error instanceof KeyUnreadableError) return toFailure(toUsageError(error))
  if (error instanceof UsageError || error instanceof StoreOpenError) {
    return { exitCode: WRONG_USAGE, message: error.message }
  }
  if (error instanceof StoreUnavailableError || error instanceof StoreFaultError) {
    return { exitCode: 1, message: `${error.message}${helpFor(error)}` }
  }
  if (error instanceof MachineError || error instanceof StoreRefusedError) {
    return { exitCode: 1, message: error.message }
  }
  if (isBrokenPipe(error) || stdoutErrors.has(Object(error))) return { exitCode: 1, message: null }
  return { exitCode: 1, message: describeUnexpected(error) }
}

function helpFor(error: StoreUnavailableError | StoreFaultError): string {
  if (error instanceof StoreNotWritableError) return '. To answer reads from it: serve --read-only'
  if (error instanceof StoreSessionLostError) return ': set --database-pooling transaction'
  return ''
}

function processIo(): CommandIo {
  process.stdout.on('error', reportStdout)
  if (fstatSync(STDOUT).isFile()) process.stdout._write = writeWhole
  process.stderr.on('error', ignore)
  return {
    stdin: readableStdin(),
    stdout: process.stdout,
    stderr: process.stderr,
    isTerminal: process.stderr.isTTY === true && process.env.TERM !== DUMB_TERMINAL,
    isColourless: isColourless(process.env),
    clock: Date.now,
  }
}

/** The variables that many programs know (no-color.org, force-color.org). The second overrides the first, as in Node. */
function isColourless({ NO_COLOR = '', FORCE_COLOR }: Environment): boolean {
  return FORCE_COLOR === undefined ? NO_COLOR !== '' : ['0', 'false'].includes(FORCE_COLOR)
}

/** Node itself drops the rest of a chunk, without an error, when a file had room for its beginning only. */
function writeWhole(chunk: Buffer, _encoding: BufferEncoding, onWritten: (error?: Error) => void): void {
  try {
    writeFileSync(STDOUT, chunk)
    onWritten()
  } catch (error) {
    onWritten(error instanceof Error ? error : new Error(reasonOf(error)))
  }
}

/** For any other kind of stdin, such as a folder, Node would make an empty stream, as if nothing had been sent. */
function readableStdin(): Readable {
  const stdin = fstatSync(STDIN)
  if (stdin.isFile() || stdin.isFIFO() || stdin.isSocket() || stdin.isCharacterDevice()) return process.stdin
  return new Readable({
    read() {
      this.destroy(new Error('it is neither a file nor a pipe'))
    },
  })
}

/**
 * Reports the first failure of stdout, for example on a full disk. The process exits with 1, but not at once: a command
 * that has changed something still records that in the audit log, and erases what it removed.
 */
function reportStdout(error: Error): void {
  // The next write reports a broken pipe to the command.
  if (isBrokenPipe(error)) return
  if (process.exitCode !== FAILED) process.stderr.write(`cannot write to stdout: ${reasonOf(error)}\n`)
  process.exitCode = FAILED
  stdoutErrors.add(error)
}

/** When the disk of its log is full, a gateway loses log lines and goes on serving. It writes again later. */
function outliveOutput({ stdout }: CommandIo): void {
  stdout.off('error', reportStdout).on('error', ignore)
}

/**
 * Node would print an exception that nothing catches, or a rejection, with its secrets and on many lines. It ends with
 * this exit code, too.
 */
function endWhenUncaught(signals: Signals, report: (error: unknown) => void): void {
  signals.on('uncaughtException', (error) => {
    report(error)
    process.exit(FAILED)
  })
}

/** Exits: unread output in a pipe would keep the process alive, and the reader of a log may have stopped. */
function leaveUnread({ stderr }: CommandIo): void {
  if (stderr === process.stderr) setTimeout(() => process.exit(), READER_GRACE_MS).unref()
}

/** For errors of stderr: no stream is left to report them to. */
function ignore(): void {}

/** True when the reader of stdout has closed it, as `head` does. */
function isBrokenPipe(error: unknown): boolean {
  return Reflect.get(Object(error), 'code') === 'EPIPE'
}
