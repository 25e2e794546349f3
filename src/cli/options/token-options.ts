// The options about access tokens and signing keys, which `serve` shares with the commands that manage keys.
import { z } from 'zod'
import { TOKEN_ALGORITHM_NAMES } from '../../auth/tokens/token-algorithms.ts'
import { type Config, inGroup, integer, nonEmpty, type OptionRow } from './option.ts'

const NAMES = TOKEN_ALGORITHM_NAMES.join(', ')

export const tokenAlgorithm = {
  flags: '--token-algorithm <name>',
  description: `algorithm for signing access tokens: ${NAMES} (default: that of the newest key; EdDSA for the first key)`,
  schema: z.enum(TOKEN_ALGORITHM_NAMES, `must be one of ${NAMES}`).optional(),
  group: 'Sessions, tokens and keys',
} as const satisfies OptionRow

export const accessTokenTtl = {
  flags: '--access-token-ttl <seconds>',
  description: 'lifetime of an access token',
  default: '900',
  schema: integer(1, 86_400),
  group: 'Sessions, tokens and keys',
} as const satisfies OptionRow

/** The issuer and the audience of access tokens (RFC 9068 section 2.2). */
export const tokenNameOptions = inGroup('Sessions, tokens and keys', {
  issuer: {
    flags: '--issuer <name>',
    description: 'issuer (iss) of access tokens; must be the same on every gateway of one database',
    default: 'workspace-gateway',
    schema: nonEmpty,
  },
  audience: {
    flags: '--audience <name>',
    description: 'audience (aud) of access tokens; must be the same on every gateway of one database',
    default: 'workspace-gateway',
    schema: nonEmpty,
  },
})

/** Several secrets are separated by commas. The first one encrypts; all of them decrypt. */
export const keyEncryptionOptions = inGroup('Sessions, tokens and keys', {
  keyEncryptionKey: {
    flags: '--key-encryption-key <secret>',
    description: 'the secret that encrypts the signing keys in the database: 32 bytes in base64 or hexadecimal',
    isEnvironmentOnly: true,
    isSecret: true,
    schema: nonEmpty.optional(),
  },
  keyEncryptionKeyFile: {
    flags: '--key-encryption-key-file <path>',
    description:
      'a file with the secret that encrypts the signing keys in the database: 32 bytes in base64 or hexadecimal',
    schema: nonEmpty.optional(),
  },
})

export type KeyEncryptionConfig = Config<typeof keyEncryptionOptions>
