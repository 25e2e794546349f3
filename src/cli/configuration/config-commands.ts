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
  const config = program.command('config').description('show and check the configuration')
  config
    .command('print')
    .description('show each option of a command with its value and its source; secrets are hidden')
    .argument('[command...]', 'the command, then its options (default: serve)')
    .option(configOption.flags, configOption.description)
    .allowUnknownOption()
    .action(async (_words: readonly string[], { config: path }: { readonly config?: string }, { args }: Command) => {
      const { runConfigPrint } = await import('../commands/config/print.ts')
      onExit(runConfigPrint(args, path, commands.all(), environment, io))
    })
  commands
    .describe(config.command('check'), SERVE_OPTIONS, problemsOfServe, 'serve')
    .description(
      'check whether serve would start with this configuration, without opening, creating or contacting anything',
    )
    .action(async (values) => {
      const { runConfigCheck } = await import('../commands/config/check.ts')
      onExit(await runConfigCheck(parseOptions(SERVE_OPTIONS, values), environment, io))
    })
  program
    .command('completion')
    .description('write a script with which a shell completes commands, options and values')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish'] satisfies readonly Shell[]))
    .action(async (shell: Shell) => {
      const { runCompletion } = await import('../commands/config/completion.ts')
      const { completedCommands } = await import('../completion/completed-command.ts')
      onExit(runCompletion(shell, completedCommands(program, commands), io))
    })
}
