// keys rotate: adds a new signing key. The older keys stay, to verify the tokens that they signed.
import { createSigningKey, importSigningKey } from '../../../auth/tokens/signing-key.ts'
import { DEFAULT_TOKEN_ALGORITHM } from '../../../auth/tokens/token-algorithms.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { openCommandAudit } from '../../open-audit.ts'
import { openStoreToWrite } from '../../open-store-for-cli.ts'
import type { KeysRotateConfig } from '../../options/key-options.ts'
import { readKeyCipher } from '../../read-key-cipher.ts'

export async function runKeysRotate(config: KeysRotateConfig, io: CommandIo): Promise<ExitCode> {
  const cipher = readKeyCipher(config)
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  const [newest] = await store.signingKeys()
  // Also proves that the secret is the right one before the new key is encrypted with it.
  const current = newest && (await importSigningKey(newest, cipher))
  const algorithm = config.tokenAlgorithm ?? current?.algorithm ?? DEFAULT_TOKEN_ALGORITHM
  const signsFrom = Math.max(io.clock() + config.signAfter * 1_000, (newest?.createdAt ?? 0) + 1)
  const key = await createSigningKey(algorithm, signsFrom, cipher)
  if (!(await store.addSigningKey(key, newest?.kid ?? null))) {
    io.stderr.write('another key was added at the same time: nothing was changed\n')
    return 1
  }
  audit.record({ kind: 'keyAdded', result: 'done', detail: key.kid })
  io.stdout.write(`${key.kid} (${algorithm}) signs from ${new Date(signsFrom).toISOString()}\n`)
  return 0
}
