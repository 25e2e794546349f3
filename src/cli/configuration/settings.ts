// Resolves the options of a command: finds the value and the source of each, and collects all problems at once.
import { UsageError } from '../../errors.ts'
import { ENVIRONMENT_PREFIX, environmentName, longName, type OptionRow, optionName } from '../options/option.ts'
import { didYouMean } from './closest-name.ts'
import { configOption } from './config-option.ts'
import { type FileValue, readConfigurationFile } from './configuration-file.ts'
import type { DescribedCommand } from './described-commands.ts'
import { hideCredentials } from './shown-value.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Setting {
  readonly row: OptionRow
  /** The value as written; true for a switch given as a flag; undefined when it is not set. */
  readonly value: unknown
  readonly source: 'flag' | 'environment' | 'file' | 'default' | 'unset'
  /** The flag, the variable or `PATH:LINE` that set it; '' for a default or no value. */
  readonly place: string
}

/** Variables that Kubernetes and Docker set for a service whose name begins with the name of this program. */
const SERVICE_LINK = /_SERVICE_(?:HOST$|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)/
/** The value of their variable `NAME_PORT`, which may also be the variable of an option. */
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//

export interface ExaminedSettings {
  readonly settings: readonly Setting[]
  /** Unknown options, invalid values, and names in the environment or the file that no command has. */
  readonly problems: readonly string[]
  /** Names in code of options whose value is invalid, or may be in a file that could not be read. */
  readonly unread: ReadonlySet<string>
}

/**
 * A flag overrides the environment, which overrides the file, which overrides the default. Throws one `UsageError` with
 * all problems.
 */
export function readSettings(
  described: DescribedCommand,
  commands: readonly DescribedCommand[],
  environment: Environment,
): readonly Setting[] {
  const { settings, problems } = examineSettings(described, commands, environment)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return settings
}

/** Like `readSettings`, but returns the problems instead of throwing them. */
export function examineSettings(
  described: DescribedCommand,
  commands: readonly DescribedCommand[],
  environment: Environment,
): ExaminedSettings {
  const path = settingOf(configOption, described, environment, new Map()).value
  const file = typeof path === 'string' && path !== '' ? readConfigurationFile(path, commands) : null
  const values = file?.valuesFor(described) ?? new Map<string, FileValue>()
  const settings = Object.values(described.options).map((row) => settingOf(row, described, environment, values))
  const isFileWhole = file?.isWhole !== false
  // An unset option is not reported as missing when the file could not be read: the file may set it.
  const wrong = settings.filter(({ source }) => source !== 'unset' || isFileWhole).filter(hasProblem)
  const hidden = isFileWhole ? [] : settings.filter(({ source }) => source === 'unset' || source === 'default')
  return {
    settings,
    problems: [
      ...unknownArguments(described),
      ...[...described.repeatedOptions].map(
        (row) => `--${longName(row)}: takes one value, and is given more than once`,
      ),
      ...wrong.flatMap(problemsOf),
      ...unknownVariables(commands, environment),
      ...(file?.problems ?? []),
    ],
    unread: new Set([...wrong, ...hidden].map(({ row }) => optionName(row))),
  }
}

function hasProblem(setting: Setting): boolean {
  return problemsOf(setting).length > 0
}

function settingOf(
  row: OptionRow,
  { command }: DescribedCommand,
  environment: Environment,
  file: ReadonlyMap<string, FileValue>,
): Setting {
  const [name, variable] = [optionName(row), environmentName(row)]
  if (command.getOptionValueSource(name) === 'cli') {
    return { row, value: command.getOptionValue(name), source: 'flag', place: `--${longName(row)}` }
  }
  const fromEnvironment = isServiceLink(variable, environment) ? undefined : environment[variable]
  if (fromEnvironment !== undefined) return { row, value: fromEnvironment, source: 'environment', place: variable }
  const fromFile = file.get(longName(row))
  if (fromFile !== undefined) return { row, value: fromFile.text, source: 'file', place: fromFile.place }
  return { row, value: row.default, source: row.default === undefined ? 'unset' : 'default', place: '' }
}

function problemsOf({ row, value, source, place }: Setting): readonly string[] {
  const flag = `--${longName(row)}`
  if (source === 'flag' && row.isEnvironmentOnly === true) {
    return [`${flag}: a secret cannot be given as an argument: set ${environmentName(row)}`]
  }
  const checked = row.schema.safeParse(value)
  const what = source === 'file' ? `${place}: ${longName(row)}` : `${flag} (${environmentName(row)})`
  return (checked.error?.issues ?? []).map(({ message }) => `${what}: ${hideCredentials(message)}`)
}

function unknownArguments({ command, name, options, unknownArguments }: DescribedCommand): readonly string[] {
  const flags = Object.values(options).map((row) => `--${longName(row)}`)
  // A known flag is among the unknown arguments only if it is a switch with a value.
  const problemOf = (flag: string) =>
    flags.includes(flag) ? 'takes no value' : `${name} does not have this option${didYouMean(flag, flags)}`
  const unknown = unknownArguments()
  const unknownFlags = unknown
    .filter((argument) => argument.length > 1 && argument.startsWith('-'))
    .map((argument) => argument.split('=', 1).join())
  const wanted = command.registeredArguments
  const given = command.args.length - unknown.length
  return [
    ...unknownFlags.map((flag) => `${flag}: ${problemOf(flag)}`),
    ...(given > wanted.length && wanted.at(-1)?.variadic !== true
      ? [
          `${name} takes ${wanted.length || 'no'} argument${wanted.length === 1 ? '' : 's'}: ${given} ${given === 1 ? 'is' : 'are'} given`,
        ]
      : []),
  ]
}

function isServiceLink(name: string, environment: Environment): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(environment[name] ?? ''))
}

/** Problems for variables with the prefix that no option has: a misspelt variable would otherwise go unnoticed. */
function unknownVariables(commands: readonly DescribedCommand[], environment: Environment): readonly string[] {
  const known = new Set(commands.flatMap(({ options }) => Object.values(options).map(environmentName)))
  return Object.keys(environment)
    .filter((name) => name.startsWith(ENVIRONMENT_PREFIX) && !known.has(name))
    .filter((name) => !isServiceLink(name, environment))
    .map((name) => `${name}: no option has this variable${didYouMean(name, known)}`)
}
