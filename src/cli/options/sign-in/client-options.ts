// The options of `clients add`, `clients list` and `clients remove`.
import { z } from 'zod'
import { ANY_DOMAIN, CLIENT_SCOPES } from '../../../auth/guards/client/client.ts'
import { auditOptions } from '../audit-options.ts'
import { database, storeOptions } from '../database-options.ts'
import { type Config, canonicalDomain, integer, list, type OptionRow } from '../option.ts'

export const CLIENTS_OPTIONS = { database, ...auditOptions, ...storeOptions } as const satisfies Record<
  string,
  OptionRow
>

export const CLIENTS_ADD_OPTIONS = {
  emailDomains: {
    flags: '--email-domains <domains>',
    description: 'domains whose addresses the client may sign in, separated by commas; * for every domain',
    schema: list
      .transform((domains, context) =>
        domains.map((domain) => (domain === ANY_DOMAIN ? domain : canonicalDomain(domain, context))),
      )
      .pipe(z.array(z.string()).min(1, 'must name a domain'))
      .optional(),
  },
  scopes: {
    flags: '--scopes <names>',
    description: `what the client may do, separated by commas: ${CLIENT_SCOPES.join(', ')}`,
    default: 'login',
    schema: list.pipe(
      z.array(z.enum(CLIENT_SCOPES, `must be of ${CLIENT_SCOPES.join(', ')}`)).min(1, 'must name a scope'),
    ),
  },
  perMinute: {
    flags: '--per-minute <count>',
    description: 'maximum logins per minute',
    default: '600',
    schema: integer(1, 1_000_000),
  },
  ...CLIENTS_OPTIONS,
} as const satisfies Record<string, OptionRow>

export type ClientsConfig = Config<typeof CLIENTS_OPTIONS>
export type ClientsAddConfig = Config<typeof CLIENTS_ADD_OPTIONS>
