// Registers the commands about the program itself: `config print`, `config check` and `completion`.
import { Argument, type Command } from 'commander'
import type { Shell } from '../commands/config/completion.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { parseOptions } from '../options/option.ts'
import { SERVE_OPTIONS } from '../options/serve-options.ts'
import { configOption } from './config-option.ts'
import type { DescribedCommands, FurtherProblems } from './described-commands.ts'
import type { Environment } from './settings.ts'

export const problemsOfServe: FurtherProblems = async (...read) => {
  const { problemsOfPlan } = await import('../serving/serve-plan.ts')
  return problemsOfPlan(...read)
}

export function addConfigCommands(
  program: Command,
  commands: DescribedCommands,
  environment: Environment,
  io: CommandIo,
  onExit: (code: ExitCode) => void,
): void {
  const config = program.command('config').description('what a command is configured with')
  config
    .command('print')
    .description('show each option of a command, its value and where that is from; secrets are hidden')
    .argument('[command...]', 'the command, then options as it takes them (default: serve)')
    .option(configOption.flags, configOption.description)
    .allowUnknownOption()
    .action(async (_words: readonly string[], { config: path }: { readonly config?: string }, { args }: Command) => {
      const { runConfigPrint } = await import('../commands/config/print.ts')
      onExit(runConfigPrint(args, path, commands.all(), environment, io))
    })
  commands
    .describe(config.command('check'), SERVE_OPTIONS, problemsOfServe, 'serve')
    .description('whether serve would start with this configuration; nothing is opened, made or asked')
    .action(async (values) => {
      const { runConfigCheck } = await import('../commands/config/check.ts')
      onExit(await runConfigCheck(parseOptions(SERVE_OPTIONS, values), environment, io))
    })
  program
    .command('completion')
    .description('write the script by which a shell completes commands, options and values')
    .addArgument(new Argument('<shell>', 'whose script').choices(['bash', 'zsh', 'fish'] satisfies readonly Shell[]))
    .action(async (shell: Shell) => {
      const { runCompletion } = await import('../commands/config/completion.ts')
      const { completedCommands } = await import('../completion/completed-command.ts')
      onExit(runCompletion(shell, completedCommands(program, commands), io))
    })
}
