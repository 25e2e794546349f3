// What is said where a command was not named, or behind an option: which option it is has nothing to do with that.
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
