// Registers the commands about stored workspaces: users, exports, vacuum, backup, restore. Each is loaded when it runs.
import type { Command } from 'commander'
import { yieldProcessor } from './backup/yield-processor.ts'
import type { Describe } from './configuration/described-commands.ts'
import type { CommandContext } from './io.ts'
import { parseOptions } from './options/option.ts'
import {
  BACKUP_OPTIONS,
  PRUNE_OPTIONS,
  RESTORE_OPTIONS,
  USERS_OPTIONS,
  VACUUM_OPTIONS,
} from './options/workspace-options.ts'

/** `describe` adds options to a command. */
export function addWorkspaceCommands(
  program: Command,
  describe: Describe,
  { io, onExit, stopSignal, leaveUnread }: CommandContext,
): void {
  const users = program.command('users').description('manage users with a stored workspace')
  describe(users.command('list'), USERS_OPTIONS)
    .description('list all users, and how much each has stored')
    .action(async (values) => {
      const { runUsersList } = await import('./commands/users.ts')
      onExit(await runUsersList(parseOptions(USERS_OPTIONS, values), io))
    })
  describe(users.command('show'), USERS_OPTIONS)
    .description('show how much a user has stored')
    .argument('<email>')
    .action(async (email: string, values) => {
      const { runUsersShow } = await import('./commands/users.ts')
      onExit(await runUsersShow(email, parseOptions(USERS_OPTIONS, values), io))
    })
  describe(users.command('rename'), USERS_OPTIONS)
    .description('move everything of a user to another email; sessions of the old email end')
    .argument('<email>')
    .argument('<new-email>')
    .action(async (from: string, to: string, values) => {
      const { runUsersRename } = await import('./commands/users.ts')
      onExit(await runUsersRename(from, to, parseOptions(USERS_OPTIONS, values), io))
    })
  describe(users.command('remove'), USERS_OPTIONS)
    .description('remove everything that is stored for each email: workspace and sessions')
    .argument('<email...>')
    .action(async (emails: readonly string[], values) => {
      const { runUsersRemove } = await import('./commands/users.ts')
      onExit(await runUsersRemove(emails, parseOptions(USERS_OPTIONS, values), io))
    })

  const exports = program.command('exports').description('manage the exports of projects')
  describe(exports.command('prune'), PRUNE_OPTIONS)
    .description('remove old exports, a few at a time; run again to resume')
    .action(async (values) => {
      const { runExportsPrune } = await import('./commands/exports.ts')
      onExit(await runExportsPrune(parseOptions(PRUNE_OPTIONS, values), io, stopSignal()))
    })

  describe(program.command('vacuum'), VACUUM_OPTIONS)
    .description('return the space of removed rows to the file system')
    .action(async (values) => {
      const { runVacuum } = await import('./commands/vacuum.ts')
      onExit(await runVacuum(parseOptions(VACUUM_OPTIONS, values), io))
    })

  describe(program.command('backup'), BACKUP_OPTIONS)
    .description('write everything, including sessions and keys, to a new file; gateways may serve meanwhile')
    .argument('<file>', 'the new file, or with --keep-newest an existing folder; - writes lines of JSON to stdout')
    .action(async (path: string, values) => {
      // First, because loading the modules of the command takes processor time too.
      using _low = yieldProcessor()
      const { runBackup } = await import('./commands/backup.ts')
      const stop = stopSignal()
      onExit(await runBackup(path, parseOptions(BACKUP_OPTIONS, values), io, stop))
      if (stop.aborted) leaveUnread()
    })
  describe(program.command('restore'), RESTORE_OPTIONS)
    .description('restore a backup in place of a database that is not in use; the previous database is kept beside it')
    .argument('<file>')
    .action(async (path: string, values) => {
      const { runRestore } = await import('./commands/restore.ts')
      onExit(await runRestore(path, { config: parseOptions(RESTORE_OPTIONS, values), io, stopSignal }))
    })
}
