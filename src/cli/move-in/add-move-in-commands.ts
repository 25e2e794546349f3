// Registers the commands about another server of the contract: `conformance` and `follow`. Each is loaded when it runs.
import type { Command } from 'commander'
import type { Describe } from '../configuration/described-commands.ts'
import type { CommandContext } from '../io.ts'
import { CONFORMANCE_OPTIONS } from '../options/move-in/conformance-options.ts'
import { FOLLOW_OPTIONS } from '../options/move-in/follow-options.ts'
import { parseOptions } from '../options/option.ts'

/** `describe` adds options to a command. */
export function addMoveInCommands(
  program: Command,
  describe: Describe,
  { io, onExit, stopSignal, leaveUnread }: CommandContext,
): void {
  describe(program.command('conformance'), CONFORMANCE_OPTIONS)
    .description(
      'check that a server follows the REST contract; the check only reads, and opens and ends its own sessions',
    )
    .argument('<url>', 'the address of the server, including its base path')
    .action(async (url: string, values) => {
      const { runConformance } = await import('../commands/move-in/conformance.ts')
      onExit(await runConformance(url, parseOptions(CONFORMANCE_OPTIONS, values), io, stopSignal))
    })
  describe(program.command('follow'), FOLLOW_OPTIONS)
    .description('keep workspaces equal to those of another server of the contract, until SIGTERM or SIGINT')
    .argument('<url>', 'the address of the server, including its base path')
    .action(async (url: string, values) => {
      const { runFollow } = await import('../commands/move-in/follow.ts')
      onExit(await runFollow(url, parseOptions(FOLLOW_OPTIONS, values), io, { stopSignal, leaveUnread }))
    })
}
