// Collects what a shell can complete: every command with its subcommands, its options and the values that they take.
import type { Argument, Command, Option } from 'commander'
import type { DescribedCommands } from '../configuration/described-commands.ts'
import { optionName } from '../options/option.ts'
import { choicesOf } from './choices.ts'

/** The choices or the kind of a value. `text` is a value that no shell can complete. */
export type Completed = readonly string[] | 'file' | 'text' | 'nothing'

export interface CompletedCommand {
  /** The words of the command, outermost first, such as `keys rotate`. '' is the program itself. */
  readonly name: string
  readonly description: string
  /** `word` is the last word of the subcommand's name. */
  readonly subcommands: readonly { readonly word: string; readonly description: string }[]
  readonly options: readonly { readonly flag: string; readonly description: string; readonly value: Completed }[]
  readonly argument: Completed
}

/** The options that take a value. */
export function valuedOptions({ options }: CompletedCommand): CompletedCommand['options'] {
  return options.filter(({ value }) => value !== 'nothing')
}

/** Names of the arguments that are the path of a file. */
const FILE_ARGUMENTS = ['source', 'file', 'path']

/** Its argument is the name of a command. */
const PRINT = 'config print'

/** All commands, each before its subcommands. */
export function completedCommands(program: Command, described: DescribedCommands): readonly CompletedCommand[] {
  const names = program.commands.map((command) => command.name())
  return commandsBelow(program, '', described).map((command) =>
    command.name === PRINT ? { ...command, argument: names } : command,
  )
}

function commandsBelow(command: Command, name: string, described: DescribedCommands): readonly CompletedCommand[] {
  const rows = Object.values(described.find(command)?.options ?? {})
  const completed: CompletedCommand = {
    name,
    description: command.description(),
    subcommands: command.commands.map((each) => ({ word: each.name(), description: each.description() })),
    options: command.options
      .filter(({ hidden }) => !hidden)
      .map((option) => {
        const row = rows.find((each) => optionName(each) === option.attributeName())
        return {
          flag: option.long ?? option.flags,
          description: option.description,
          value: takenBy(option, row ? choicesOf(row) : []),
        }
      }),
    argument: argumentOf(command.registeredArguments[0]),
  }
  return [
    completed,
    ...command.commands.flatMap((each) => commandsBelow(each, `${name} ${each.name()}`.trim(), described)),
  ]
}

function takenBy({ flags, required }: Option, choices: readonly string[]): Completed {
  if (!required) return 'nothing'
  if (choices.length > 0) return choices
  return flags.endsWith('<path>') ? 'file' : 'text'
}

function argumentOf(argument: Argument | undefined): Completed {
  if (!argument) return 'nothing'
  return argument.argChoices ?? (FILE_ARGUMENTS.includes(argument.name()) ? 'file' : 'text')
}
