// The options of `sessions list`, `sessions revoke` and `audit`, and the --email of every command that may be about one
// user.
import { z } from 'zod'
import { AUDIT_KINDS, type AuditKind } from '../../auth/audit/audit-event.ts'
import { canonicalEmail } from '../../auth/email.ts'
import { auditOptions } from './audit-options.ts'
import { database, storeOptions } from './database-options.ts'
import { booleanOption, type Config, type OptionRow, time } from './option.ts'

const KINDS = Object.keys(AUDIT_KINDS) as AuditKind[]

/** The canonical email of the user that a command is about. */
export const email = {
  flags: '--email <email>',
  description: 'only this user',
  isSelection: true,
  schema: z.string().transform(canonicalEmail).pipe(z.string('must be an email address')).optional(),
} as const satisfies OptionRow

/** For a command that lists rows. */
export const json = {
  flags: '--json',
  description: 'write one JSON object per line',
  schema: booleanOption.optional(),
} as const satisfies OptionRow

export const SESSIONS_LIST_OPTIONS = {
  database,
  email,
  json,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export const SESSIONS_REVOKE_OPTIONS = {
  database,
  email: { ...email, description: 'end all sessions of this user' },
  ...auditOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export const AUDIT_OPTIONS = {
  database,
  from: {
    flags: '--from <time>',
    description: 'only what happened at this time or later: 2026-01-31, or 2026-01-31T09:30:00Z',
    schema: time.optional(),
  },
  to: {
    flags: '--to <time>',
    description: 'only what happened before this time',
    schema: time.optional(),
  },
  kind: {
    flags: '--kind <kind>',
    description: 'only events of this kind, such as login',
    isSelection: true,
    schema: z.enum(KINDS, `must be one of ${KINDS.join(', ')}`).optional(),
  },
  email,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type SessionsListConfig = Config<typeof SESSIONS_LIST_OPTIONS>
export type SessionsRevokeConfig = Config<typeof SESSIONS_REVOKE_OPTIONS>
export type AuditCommandConfig = Config<typeof AUDIT_OPTIONS>
