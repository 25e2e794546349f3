// Reads the secrets that encrypt signing keys, from the environment or from a file.
import { createKeyCipher, type KeyCipher, type KeyUnreadableError, readSecret } from '../auth/tokens/key-cipher.ts'
import { UsageError } from '../errors.ts'
import { readFileOf } from './configuration/text-file.ts'
import type { KeyEncryptionConfig } from './options/token-options.ts'

const ENVIRONMENT = 'WORKSPACE_GATEWAY_KEY_ENCRYPTION_KEY'
const FILE_FLAG = '--key-encryption-key-file'
const ADVICE = `with ${ENVIRONMENT} or ${FILE_FLAG}`

/** Throws `UsageError`, whose message never contains a secret. */
export function readKeyCipher({ keyEncryptionKey, keyEncryptionKeyFile }: KeyEncryptionConfig): KeyCipher {
  if (keyEncryptionKey !== undefined && keyEncryptionKeyFile !== undefined) {
    throw new UsageError(`${ENVIRONMENT} and ${FILE_FLAG}: give only one of them`)
  }
  const source = keyEncryptionKeyFile === undefined ? ENVIRONMENT : FILE_FLAG
  const text = keyEncryptionKeyFile === undefined ? keyEncryptionKey : readFileOf(FILE_FLAG, keyEncryptionKeyFile)
  return createKeyCipher(text === undefined ? [] : text.split(',').map((part) => requireSecret(part, source)))
}

/**
 * The arguments with which `keys retire` removes a key even if its tokens may be in use. They contain `--`, because the
 * kid of an earlier version may begin with a dash.
 */
export function argumentsToRetire(kid: string): string {
  return `--force -- ${kid}`
}

/** The error for a key that cannot be read, with advice for the operator. */
export function toUsageError({ message, kid, reason }: KeyUnreadableError): UsageError {
  const advice = {
    noSecret: `give the key that it was encrypted with, ${ADVICE}`,
    otherSecret: `give the key that it was encrypted with, ${ADVICE}; several are separated by commas`,
    damaged: `restore a backup, or remove the key with \`workspace-gateway keys retire ${argumentsToRetire(kid)}\`: access tokens signed with it are then refused, and clients renew them`,
  }
  return new UsageError(`${message}: ${advice[reason]}`)
}

function requireSecret(text: string, source: string): Uint8Array {
  const secret = readSecret(text)
  if (secret === null) {
    throw new UsageError(
      `${source}: must be 32 bytes in base64 or hexadecimal, as \`openssl rand -base64 32\` prints them`,
    )
  }
  return secret
}
