// The options of `users`, `exports prune`, `vacuum`, `backup` and `restore`.
import { auditOptions } from './audit-options.ts'
import { database, storeOptions } from './database-options.ts'
import { email } from './operator-options.ts'
import { booleanOption, type Config, duration, integer, type OptionRow } from './option.ts'

export const USERS_OPTIONS = { database, ...auditOptions, ...storeOptions } as const satisfies Record<string, OptionRow>

export const PRUNE_OPTIONS = {
  database,
  keep: {
    flags: '--keep <count>',
    description:
      'how many of the newest exports of each project to keep, whatever their age (default: 1 with --older-than)',
    schema: integer(1, 1_000_000).optional(),
  },
  olderThan: {
    flags: '--older-than <age>',
    description: 'remove only exports older than this, such as 90d or 12h',
    schema: duration.optional(),
  },
  email,
  ...auditOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export const VACUUM_OPTIONS = {
  database,
  full: {
    flags: '--full',
    description: 'rewrite the database in one step; writes of other processes wait meanwhile (PostgreSQL: reads too)',
    schema: booleanOption.optional(),
  },
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export const BACKUP_OPTIONS = {
  database,
  keepNewest: {
    flags: '--keep-newest <count>',
    description:
      'write the backup into a folder, named by its time, and keep only this many of the newest with such names',
    schema: integer(1, 1_000_000).optional(),
  },
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export const RESTORE_OPTIONS = {
  database,
  keepSessions: {
    flags: '--keep-sessions',
    description: 'keep the sessions of the backup open, including those that have ended since it was made',
    schema: booleanOption.optional(),
  },
  ...auditOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type UsersConfig = Config<typeof USERS_OPTIONS>
export type PruneConfig = Config<typeof PRUNE_OPTIONS>
export type VacuumConfig = Config<typeof VACUUM_OPTIONS>
export type BackupConfig = Config<typeof BACKUP_OPTIONS>
export type RestoreConfig = Config<typeof RESTORE_OPTIONS>
