// The command line: registers every command, stops it on a signal, and reports what fails. Only this file reads the
// arguments and the environment of the process, and process-io.ts what they say about the terminal.
import { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { redact } from '../redact.ts'
import { addAccessCommands, addSignInCommands } from './access-commands.ts'
import { addConfigCommands, problemsOfServe } from './configuration/config-commands.ts'
import { createDescribedCommands, type DescribedCommands } from './configuration/described-commands.ts'
import { addMissingCommandErrors } from './configuration/missing-command.ts'
import { type Environment, examineSettings } from './configuration/settings.ts'
import { DOCTOR_OPTIONS } from './doctor/doctor-options.ts'
import { toFailure } from './failures/to-failure.ts'
import type { CommandContext, CommandIo, ExitCode } from './io.ts'
import { addMoveInCommands } from './move-in/add-move-in-commands.ts'
import { DUMP_OPTIONS } from './options/dump-options.ts'
import { HEALTH_OPTIONS } from './options/health/health-options.ts'
import { IMPORT_OPTIONS } from './options/import-options.ts'
import { MOVE_OPTIONS } from './options/move-options.ts'
import { optionName, parseOptions } from './options/option.ts'
import { LEDGER_OPTIONS } from './options/retirement/ledger-options.ts'
import { SERVE_OPTIONS } from './options/serve-options.ts'
import { leaveUnread, outliveOutput, processIo } from './process/process-io.ts'
import { packageVersion } from './serving/package-version.ts'
import { announceEnd, isLaterWorker } from './workers/announced-end.ts'
import { type Signals, stopSignal, stopSignalInTerminal } from './workers/stop-signal.ts'
import { addWorkspaceCommands } from './workspace-commands.ts'

const FAILED = 1

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
  const inTerminal = () => stopSignalInTerminal(signals)
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
      onExit(await runImport(source, parseOptions(IMPORT_OPTIONS, values), io, inTerminal))
    })
  describe(program.command('dump'), DUMP_OPTIONS)
    .description('write all workspaces as NDJSON, for import')
    .action(async (values) => {
      const { runDump } = await import('./commands/dump.ts')
      onExit(await runDump(parseOptions(DUMP_OPTIONS, values), io, inTerminal))
    })
  describe(program.command('move'), MOVE_OPTIONS)
    .description(
      'copy everything into another database, including sessions and keys, and compare it; run again to resume',
    )
    .action(async (values) => {
      const { runMove } = await import('./commands/move.ts')
      onExit(await runMove(parseOptions(MOVE_OPTIONS, values), io, inTerminal()))
    })
  describe(program.command('ledger'), LEDGER_OPTIONS)
    .description('show which clients still call which REST route, how often and when last')
    .action(async (values) => {
      const { runLedger } = await import('./commands/moving/ledger.ts')
      onExit(await runLedger(parseOptions(LEDGER_OPTIONS, values), io))
    })
  const doctor = describe(program.command('doctor'), DOCTOR_OPTIONS, undefined, 'serve')
    .description('check a gateway from inside and through its proxies; report what is wrong, and what fixes it')
    .argument('[url]', 'where clients reach the gateway, such as https://gateway.example.com')
    .action(async (url: string | undefined, values) => {
      const { runDoctor } = await import('./doctor/doctor.ts')
      const { createRecommendCommand } = await import('./doctor/recommended-command.ts')
      const recommend = createRecommendCommand(doctor, commands.all())
      onExit(await runDoctor(url, parseOptions(DOCTOR_OPTIONS, values), io, { environment, recommend }))
    })
  const context: CommandContext = {
    io,
    onExit,
    stopSignal: inTerminal,
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
