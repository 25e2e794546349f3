// config print: writes the effective options of a command as a configuration file, with the source of each value.
import { stringify } from 'yaml'
import { UsageError } from '../../../errors.ts'
import { didYouMean } from '../../configuration/closest-name.ts'
import { configOption } from '../../configuration/config-option.ts'
import { isOwn } from '../../configuration/configuration-file.ts'
import type { DescribedCommand } from '../../configuration/described-commands.ts'
import { type Environment, readSettings, type Setting } from '../../configuration/settings.ts'
import { shownValue } from '../../configuration/shown-value.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { longName, optionName } from '../../options/option.ts'

const DEFAULT_COMMAND = 'serve'
/** Column of the comments, unless a value is longer. */
const COMMENT_COLUMN = 44
/** Options that make `stringify` write any value on one line. */
const ONE_LINE = { schema: 'failsafe', lineWidth: 0, blockQuote: false } as const

/**
 * `args` are the words of a command followed by its options. `path` is the `--config` of `config print` itself. Throws
 * `UsageError` with every problem that would stop the command.
 */
export function runConfigPrint(
  args: readonly string[],
  path: string | undefined,
  commands: readonly DescribedCommand[],
  environment: Environment,
  { stdout }: CommandIo,
): ExitCode {
  const described = findCommand(args, commands)
  const { command, name } = described
  const words = args[0]?.startsWith('-') === false ? name.split(' ').length : 0
  const { operands, unknown } = command.parseOptions(args.slice(words))
  command.args = [...operands, ...unknown]
  if (path !== undefined) command.setOptionValueWithSource(optionName(configOption), path, 'cli')
  const settings = readSettings(described, commands, environment)
  const isUnderName = ({ row }: Setting) => isOwn(longName(row), commands)
  const lines = [
    `# ${name}: flag over environment over file over default`,
    ...settings.filter((setting) => !isUnderName(setting)).map((setting) => lineOf(setting)),
    ...linesUnder(name.split(' '), settings.filter(isUnderName)),
  ]
  stdout.write(`${lines.join('\n')}\n`)
  return 0
}

function findCommand(args: readonly string[], commands: readonly DescribedCommand[]): DescribedCommand {
  const firstFlag = args.findIndex((arg) => arg.startsWith('-'))
  const words = args.slice(0, firstFlag === -1 ? args.length : firstFlag).join(' ') || DEFAULT_COMMAND
  const found = commands.find(({ name }) => words === name || words.startsWith(`${name} `))
  if (found) return found
  const names = commands.map(({ name }) => name)
  throw new UsageError(`config print: no command is called "${words}"${didYouMean(words, names)}`)
}

/** The lines of options that mean something else to other commands, nested under the name of this command. */
function linesUnder(words: readonly string[], settings: readonly Setting[]): readonly string[] {
  if (settings.length === 0) return []
  const indent = (depth: number) => '  '.repeat(depth)
  return [
    ...words.map((word, depth) => `${indent(depth)}${word}:`),
    ...settings.map((setting) => lineOf(setting, indent(words.length))),
  ]
}

function lineOf({ row, value, source, place }: Setting, indent = ''): string {
  const name = longName(row)
  if (source === 'unset') return `${`# ${indent}${name}:`.padEnd(COMMENT_COLUMN)} # not set`
  const text = stringify(shownValue(row, String(value)), ONE_LINE).trimEnd()
  // `config` is written as a comment: a configuration file cannot name another one.
  const line = `${name === longName(configOption) ? '# ' : ''}${indent}${name}: ${text}`
  return `${line.padEnd(COMMENT_COLUMN)} # ${source}${place === '' ? '' : ` ${place}`}`
}
