// The error for a command line that names no subcommand, or has an option before it: it always names the missing
// command.
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
  const first = group.commands.map((command) => command.name())
  const which = group.parent ? `: ${first.join(', ')}` : ''
  return `error: ${group.name()}: name one of its commands, before all options${which}`
}
