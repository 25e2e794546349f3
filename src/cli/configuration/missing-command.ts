// The error where no command is named, or an option stands before it: it is about the command, whatever the option.
import type { Command } from 'commander'

/** Of `group` and all below it that have commands. */
export function tellMissingCommands(group: Command): void {
  if (group.commands.length === 0) return
  group
    // Help comes in place of the complaint about the option.
    .allowUnknownOption()
    .addHelpText('before', ({ error }) => (error ? `${missingCommand(group)}\n` : ''))
  group.commands.forEach(tellMissingCommands)
}

function missingCommand(group: Command): string {
  const first = group.commands.map((command) => command.name())
  const which = group.parent ? `: ${first.join(', ')}` : ''
  return `error: ${group.name()}: name one of its commands, before all options${which}`
}
