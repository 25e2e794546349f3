// clients add, list and remove: manages the back ends that may sign their users in.
import { ANY_DOMAIN } from '../../auth/guards/client/client.ts'
import { createClientSecret, isClientName } from '../../auth/guards/client/client-secret.ts'
import { UsageError } from '../../errors.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openCommandAudit } from '../open-audit.ts'
import { openStoreInCharge, openStoreToWrite } from '../open-store-for-cli.ts'
import type { ClientsAddConfig, ClientsConfig } from '../options/sign-in/client-options.ts'

export async function runClientsAdd(name: string, config: ClientsAddConfig, io: CommandIo): Promise<ExitCode> {
  if (!isClientName(name)) throw new UsageError('the name of a client must be 1 to 64 letters, digits, . _ and -')
  const { emailDomains, scopes, perMinute } = config
  if (emailDomains === undefined)
    throw new UsageError('--email-domains: name the domains of its users, such as example.com')
  if (scopes.includes('import') && !emailDomains.includes(ANY_DOMAIN)) {
    throw new UsageError("--scopes: the scope import is not limited to domains: with it, --email-domains must be '*'")
  }
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  const { secret, secretHash } = createClientSecret()
  const isAdded = await store.addClient({
    name,
    secretHash,
    domains: emailDomains,
    scopes,
    perMinute,
    createdAt: io.clock(),
  })
  if (!isAdded) {
    io.stderr.write(`there is already a client ${name}: remove it first, or choose another name\n`)
    return 1
  }
  audit.record({ kind: 'clientAdded', result: 'done', detail: name })
  io.stderr.write('the secret is shown only now:\n')
  io.stdout.write(`${name}:${secret}\n`)
  return 0
}

/** Writes one tab-separated line for each client: name, domains, scopes, logins a minute, creation time. */
export async function runClientsList(config: ClientsConfig, io: CommandIo): Promise<ExitCode> {
  await using store = await openStoreInCharge(config)
  for (const { name, domains, scopes, perMinute, createdAt } of await store.clients()) {
    const columns = [name, domains.join(','), scopes.join(','), perMinute, new Date(createdAt).toISOString()]
    io.stdout.write(`${columns.join('\t')}\n`)
  }
  return 0
}

export async function runClientsRemove(name: string, config: ClientsConfig, io: CommandIo): Promise<ExitCode> {
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  if (await store.removeClient(name)) {
    audit.record({ kind: 'clientRemoved', result: 'done', detail: name })
    io.stdout.write(`removed ${name}: it can no longer sign in users; sessions that it opened continue\n`)
    return 0
  }
  io.stderr.write(`there is no client ${name}\n`)
  return 1
}
