// The options of `keys list`, `keys rotate`, `keys retire` and `keys encrypt`.
import { auditOptions } from './audit-options.ts'
import { database, storeOptions } from './database-options.ts'
import { json } from './operator-options.ts'
import { booleanOption, type Config, integer, type OptionRow } from './option.ts'
import { accessTokenTtl, keyEncryptionOptions, tokenAlgorithm } from './token-options.ts'

const commonOptions = {
  database,
  ...keyEncryptionOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export const KEYS_LIST_OPTIONS = {
  ...commonOptions,
  accessTokenTtl,
  json,
} as const satisfies Record<string, OptionRow>

export const KEYS_ROTATE_OPTIONS = {
  ...commonOptions,
  tokenAlgorithm,
  signAfter: {
    flags: '--sign-after <seconds>',
    description: 'publish the key now, and sign with it after this time, for verifiers that cache the published keys',
    default: '0',
    schema: integer(0, 30 * 86_400),
  },
  ...auditOptions,
} as const satisfies Record<string, OptionRow>

export const KEYS_RETIRE_OPTIONS = {
  ...commonOptions,
  accessTokenTtl,
  force: {
    flags: '--force',
    description: 'retire the key even while its tokens are in use; they are refused from then on',
    schema: booleanOption.optional(),
  },
  ...auditOptions,
} as const satisfies Record<string, OptionRow>

export const KEYS_ENCRYPT_OPTIONS = {
  ...commonOptions,
  ...auditOptions,
} as const satisfies Record<string, OptionRow>

export type KeysListConfig = Config<typeof KEYS_LIST_OPTIONS>
export type KeysRotateConfig = Config<typeof KEYS_ROTATE_OPTIONS>
export type KeysRetireConfig = Config<typeof KEYS_RETIRE_OPTIONS>
export type KeysEncryptConfig = Config<typeof KEYS_ENCRYPT_OPTIONS>
