// Registers the commands about access: `sessions`, `keys`, `audit`, `clients` and `mail`. Each loads its implementation
// only when it runs.
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
import { CLIENTS_ADD_OPTIONS, CLIENTS_OPTIONS } from './options/sign-in/client-options.ts'
import { MAIL_SERVER_OPTIONS } from './options/sign-in/mail-options.ts'

/** `describe` adds options to a command. `onExit` receives the exit code of the command that ran. */
export function addAccessCommands(
  program: Command,
  describe: Describe,
  { io, onExit }: Pick<CommandContext, 'io' | 'onExit'>,
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

/** `clients` and `mail`: who else may sign users in, and by what mail server. */
export function addSignInCommands(
  program: Command,
  describe: Describe,
  { io, onExit }: Pick<CommandContext, 'io' | 'onExit'>,
): void {
  const clients = program.command('clients').description('manage back ends that may sign in their users')
  describe(clients.command('add'), CLIENTS_ADD_OPTIONS)
    .description('register a back end; its secret is shown only now, as NAME:SECRET')
    .argument('<name>', 'its name: the user-id of its credentials')
    .action(async (name: string, values) => {
      const { runClientsAdd } = await import('./commands/clients.ts')
      onExit(await runClientsAdd(name, parseOptions(CLIENTS_ADD_OPTIONS, values), io))
    })
  describe(clients.command('list'), CLIENTS_OPTIONS)
    .description('list registered back ends')
    .action(async (values) => {
      const { runClientsList } = await import('./commands/clients.ts')
      onExit(await runClientsList(parseOptions(CLIENTS_OPTIONS, values), io))
    })
  describe(clients.command('remove'), CLIENTS_OPTIONS)
    .description('remove a back end; it can no longer sign in users')
    .argument('<name>', 'its name')
    .action(async (name: string, values) => {
      const { runClientsRemove } = await import('./commands/clients.ts')
      onExit(await runClientsRemove(name, parseOptions(CLIENTS_OPTIONS, values), io))
    })
  const mail = program.command('mail').description('test the mail server that sends codes')
  describe(mail.command('test'), MAIL_SERVER_OPTIONS)
    .description('send one mail, to see whether it arrives')
    .argument('<address>', 'the recipient')
    .action(async (address: string, values) => {
      const { runMailTest } = await import('./commands/mail-test.ts')
      onExit(await runMailTest(address, parseOptions(MAIL_SERVER_OPTIONS, values), io))
    })
}
