// The error for a command line that names no subcommand, has an option before it, or asks for help with an unknown one.
import type { Command } from 'commander'

/** Adds the error to `group` and to every group below it. */
export function addMissingCommandErrors(group: Command): void {
  if (group.commands.length === 0) return
  group
    // So that commander prints the help instead of an error about the option.
    .allowUnknownOption()
    .addHelpText('before', ({ error }) => (error ? `${missingCommand(group)}\n` : ''))
  group.commands.forEach(addMissingCommandErrors)
}

function missingCommand(group: Command): string {
  const [first, asked] = group.args
  // As commander puts it for a command that is unknown without `help`.
  if (first === 'help' && asked !== undefined) return `error: unknown command '${asked}'`
  const names = group.commands.map((command) => command.name())
  const which = group.parent ? `: ${names.join(', ')}` : ''
  return `error: ${group.name()}: name one of its commands, before all options${which}`
}
