// The errors for a command line that names no command or an unknown one, or has an option before it, also if it asks for
// help.
import type { Command } from 'commander'
import { didYouMean } from './closest-name.ts'

/** Adds the errors to `group` and to every group below it. */
export function addMissingCommandErrors(group: Command): void {
  if (group.commands.length === 0) return
  const names = group.commands.map((command) => command.name())
  const refuse = (name: string) => group.error(`error: unknown command '${name}'${didYouMean(name, names)}`)
  group
    // So that commander prints the help instead of an error about the option.
    .allowUnknownOption()
    .on('command:*', ([name = '']: readonly string[]) => refuse(name))
    .addHelpText('before', ({ error }) => {
      const [first, asked] = group.args
      const name = first === 'help' ? asked : first
      if (name !== undefined && !name.startsWith('-') && !names.includes(name)) refuse(name)
      return error ? `${missingCommand(group, names)}\n` : ''
    })
  group.commands.forEach(addMissingCommandErrors)
}

function missingCommand(group: Command, names: readonly string[]): string {
  const which = group.parent ? `: ${names.join(', ')}` : ''
  return `error: ${group.name()}: name one of its commands, before all options${which}`
}
