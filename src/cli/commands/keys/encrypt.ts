// keys encrypt: encrypts, with the first secret given, the private keys that are stored in clear or under an older
// secret.
import { UsageError } from '../../../errors.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { openCommandAudit } from '../../open-audit.ts'
import { openStoreToWrite } from '../../open-store-for-cli.ts'
import type { KeysEncryptConfig } from '../../options/key-options.ts'
import { readKeyCipher } from '../../read-key-cipher.ts'
import { tellTraces } from './tell-traces.ts'

export async function runKeysEncrypt(config: KeysEncryptConfig, io: CommandIo): Promise<ExitCode> {
  const cipher = readKeyCipher(config)
  if (!cipher.hasSecret) {
    throw new UsageError(
      'keys encrypt: give the key to encrypt with, as WORKSPACE_GATEWAY_KEY_ENCRYPTION_KEY or --key-encryption-key-file',
    )
  }
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  const rewritten = (await store.signingKeys())
    .filter(({ kid, privateJwk }) => !cipher.isCurrent(kid, privateJwk))
    .map(({ kid, privateJwk }) => ({ kid, privateJwk: cipher.seal(kid, cipher.open(kid, privateJwk)) }))
  const sealed = await tellTraces(io, () => store.rewriteSigningKeys(rewritten))
  if (rewritten.length > 0) {
    audit.record({ kind: 'keysEncrypted', result: 'done', detail: `${rewritten.length} encrypted` })
  }
  io.stdout.write(`${rewritten.length} ${rewritten.length === 1 ? 'key' : 'keys'} encrypted\n`)
  return sealed === 'tracesLeft' ? 1 : 0
}
