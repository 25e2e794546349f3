// The commands of the program and the table of options that each was described with.
import { type Command, Option } from 'commander'
import { environmentName, type OptionRow, type Options, optionName } from '../options/option.ts'
import { configOption } from './config-option.ts'

/** What is wrong beyond single values, as far as those that could be read say: asked where something is wrong already. */
export type FurtherProblems = (
  values: Readonly<Record<string, unknown>>,
  unread: ReadonlySet<string>,
  environment: Readonly<Record<string, string | undefined>>,
) => Promise<readonly string[]>

export type Describe = (
  command: Command,
  options: Options,
  furtherProblems?: FurtherProblems,
  looksAt?: string | null,
) => Command

export interface DescribedCommand {
  readonly command: Command
  /** From the outside in: `keys rotate`. */
  readonly name: string
  /** By their names in code; with `config`, which every command has. */
  readonly options: Options
  /** What the command line gave it that it does not know, in order. Read once it was parsed. */
  readonly unknownArguments: () => readonly string[]
  readonly furtherProblems: FurtherProblems
  /** The command that it is about: what a file says to that one is said to it too. */
  readonly looksAt: string | null
}

export interface DescribedCommands {
  /** Gives a command its options. */
  readonly describe: Describe
  /** Null for a command that was not described. */
  readonly find: (command: Command) => DescribedCommand | null
  readonly all: () => readonly DescribedCommand[]
}

export function createDescribedCommands(): DescribedCommands {
  const described = new Map<Command, DescribedCommand>()
  return {
    describe(command, options, furtherProblems = async () => [], looksAt = null) {
      const all = { ...options, config: configOption }
      for (const row of Object.values(all)) addOption(command, row)
      described.set(command, {
        command,
        name: nameOf(command),
        options: all,
        unknownArguments: keepUnknown(command),
        furtherProblems,
        looksAt,
      })
      return command
    },
    find: (command) => described.get(command) ?? null,
    all: () => [...described.values()],
  }
}

/** Every option's environment variable is shown by --help; that of a secret only there. */
function addOption(command: Command, row: OptionRow): void {
  const option = new Option(row.flags, row.description).env(environmentName(row))
  option.attributeName = () => optionName(row)
  option.negate = false
  if (row.default !== undefined) option.default(row.default)
  if (row.isEnvironmentOnly === true) {
    option.hideHelp()
    command.addHelpText('after', `\nNot as an argument:\n  ${environmentName(row)}  ${row.description}`)
  }
  command.addOption(option)
}

/** What is unknown is told together with all else that is wrong, in place of the first of it alone. */
function keepUnknown(command: Command): () => readonly string[] {
  let unknown: readonly string[] = []
  const parse = command.parseOptions.bind(command)
  command.allowUnknownOption().allowExcessArguments()
  command.parseOptions = (args) => {
    const parsed = parse(args)
    unknown = parsed.unknown
    return parsed
  }
  return () => unknown
}

function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
}
