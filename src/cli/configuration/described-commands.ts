// Keeps the commands of the program together with the option table of each.
import { type Command, Option } from 'commander'
import { environmentName, isList, type OptionRow, type Options, optionName } from '../options/option.ts'
import { configOption } from './config-option.ts'

/**
 * Finds problems that involve several options. It is called only when a problem was found already, so that all are
 * reported at once. `unread` names the options whose value could not be read.
 */
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
  /** The words of the command, outermost first, such as `keys rotate`. */
  readonly name: string
  /** Options by their names in code, including `config`, which every command has. */
  readonly options: Options
  /** The unknown arguments of the command line, in order. Valid after the command was parsed. */
  readonly unknownArguments: () => readonly string[]
  /** The selections that are given again. Valid after the command was parsed. */
  readonly repeatedOptions: ReadonlySet<OptionRow>
  readonly furtherProblems: FurtherProblems
  /**
   * The name of the command that this one is about, or null. Values of a file for that command apply to this one too.
   */
  readonly looksAt: string | null
}

export interface DescribedCommands {
  /** Adds options to a command. */
  readonly describe: Describe
  /** Returns null for a command that was not described. */
  readonly find: (command: Command) => DescribedCommand | null
  readonly all: () => readonly DescribedCommand[]
}

export function createDescribedCommands(): DescribedCommands {
  const described = new Map<Command, DescribedCommand>()
  return {
    describe(command, options, furtherProblems = async () => [], looksAt = null) {
      const all = { ...options, config: configOption }
      const repeatedOptions = new Set<OptionRow>()
      for (const row of Object.values(all)) addOption(command, row, repeatedOptions)
      described.set(command, {
        command,
        name: nameOf(command),
        options: all,
        unknownArguments: keepUnknown(command),
        repeatedOptions,
        furtherProblems,
        looksAt,
      })
      return command
    },
    find: (command) => described.get(command) ?? null,
    all: () => [...described.values()],
  }
}

/**
 * Every occurrence of a flag with a list counts, and together they replace the default. `repeated` receives a
 * selection that is given again. --help shows the environment variable of every option. For an option that is
 * environment-only it shows the variable alone.
 */
function addOption(command: Command, row: OptionRow, repeated: Set<OptionRow>): void {
  const option = new Option(row.flags, row.description).env(environmentName(row))
  option.attributeName = () => optionName(row)
  option.negate = false
  if (row.default !== undefined) option.default(row.default)
  if (row.group !== undefined) option.helpGroup(`${row.group}:`)
  if (option.required) {
    option.argParser((text: string, earlier: string) => {
      if (command.getOptionValueSource(optionName(row)) !== 'cli') return text
      if (isList(row.schema)) return `${earlier},${text}`
      if (row.isSelection === true) repeated.add(row)
      return text
    })
  }
  if (row.isEnvironmentOnly === true) {
    option.hideHelp()
    command.addHelpText('after', `\nNot as an argument:\n  ${environmentName(row)}  ${row.description}`)
  }
  command.addOption(option)
}

/**
 * Collects unknown arguments instead of failing at the first, so that they are reported together with all other
 * problems.
 */
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
