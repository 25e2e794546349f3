// Registers the commands about access: `sessions`, `keys` and `audit`. Each loads its implementation only when it runs.
import type { Command } from 'commander'
import type { Describe } from './configuration/described-commands.ts'
import type { CommandContext } from './io.ts'
import {
  KEYS_ENCRYPT_OPTIONS,
  KEYS_LIST_OPTIONS,
  KEYS_RETIRE_OPTIONS,
  KEYS_ROTATE_OPTIONS,
} from './options/key-options.ts'
import { AUDIT_OPTIONS, SESSIONS_LIST_OPTIONS, SESSIONS_REVOKE_OPTIONS } from './options/operator-options.ts'
import { parseOptions } from './options/option.ts'

/** `describe` adds options to a command. `onExit` receives the exit code of the command that ran. */
export function addAccessCommands(
  program: Command,
  describe: Describe,
  { io, onExit }: Omit<CommandContext, 'stopSignal'>,
): void {
  const sessions = program.command('sessions').description('manage open sessions')
  describe(sessions.command('list'), SESSIONS_LIST_OPTIONS)
    .description('list open sessions')
    .action(async (values) => {
      const { runSessionsList } = await import('./commands/sessions.ts')
      onExit(await runSessionsList(parseOptions(SESSIONS_LIST_OPTIONS, values), io))
    })
  describe(sessions.command('revoke'), SESSIONS_REVOKE_OPTIONS)
    .description('end a session, or all sessions of a user, immediately and on every gateway')
    .argument('[id]', 'id of a session')
    .action(async (id: string | undefined, values) => {
      const { runSessionsRevoke } = await import('./commands/sessions.ts')
      onExit(await runSessionsRevoke(id, parseOptions(SESSIONS_REVOKE_OPTIONS, values), io))
    })
  const keys = program.command('keys').description('manage the keys that sign access tokens')
  describe(keys.command('list'), KEYS_LIST_OPTIONS)
    .description('list signing keys, newest first')
    .action(async (values) => {
      const { runKeysList } = await import('./commands/keys/list.ts')
      onExit(await runKeysList(parseOptions(KEYS_LIST_OPTIONS, values), io))
    })
  describe(keys.command('rotate'), KEYS_ROTATE_OPTIONS)
    .description('create a new signing key; tokens of older keys stay valid')
    .action(async (values) => {
      const { runKeysRotate } = await import('./commands/keys/rotate.ts')
      onExit(await runKeysRotate(parseOptions(KEYS_ROTATE_OPTIONS, values), io))
    })
  describe(keys.command('retire'), KEYS_RETIRE_OPTIONS)
    .description('remove a key once none of its tokens can be in use')
    .argument('<kid>', 'the kid of the key; write -- before it if it begins with -')
    .action(async (kid: string, values) => {
      const { runKeysRetire } = await import('./commands/keys/retire.ts')
      onExit(await runKeysRetire(kid, parseOptions(KEYS_RETIRE_OPTIONS, values), io))
    })
  describe(keys.command('encrypt'), KEYS_ENCRYPT_OPTIONS)
    .description('encrypt private keys that are stored unencrypted or with an older secret')
    .action(async (values) => {
      const { runKeysEncrypt } = await import('./commands/keys/encrypt.ts')
      onExit(await runKeysEncrypt(parseOptions(KEYS_ENCRYPT_OPTIONS, values), io))
    })
  describe(program.command('audit'), AUDIT_OPTIONS)
    .description('write the audit log as NDJSON, oldest first')
    .action(async (values) => {
      const { runAudit } = await import('./commands/audit.ts')
      onExit(await runAudit(parseOptions(AUDIT_OPTIONS, values), io))
    })
}
