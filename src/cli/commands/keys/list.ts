// keys list: lists the signing keys, the state of each and how long it is needed.
import { isSealed } from '../../../auth/tokens/key-cipher.ts'
import { standingsOf } from '../../../auth/tokens/key-states.ts'
import { importSigningKey } from '../../../auth/tokens/signing-key.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { openStoreInCharge } from '../../open-store-for-cli.ts'
import type { KeysListConfig } from '../../options/key-options.ts'
import { readKeyCipher } from '../../read-key-cipher.ts'
import { writeLine } from '../../write-line.ts'

export async function runKeysList(config: KeysListConfig, { stdout, clock }: CommandIo): Promise<ExitCode> {
  const cipher = readKeyCipher(config)
  await using store = await openStoreInCharge(config)
  const keys = await store.signingKeys()
  const standings = standingsOf(keys, { now: clock(), accessTokenTtlSeconds: config.accessTokenTtl })
  for (const [index, key] of keys.entries()) {
    const { algorithm } = await importSigningKey(key, cipher)
    const { state = 'spent', neededUntil = null } = standings[index] ?? {}
    const signsFrom = new Date(key.createdAt).toISOString()
    const stored = isSealed(key.privateJwk) ? 'encrypted' : 'clear'
    const until = neededUntil === null ? null : new Date(neededUntil).toISOString()
    await writeLine(
      stdout,
      config.json === true
        ? JSON.stringify({ kid: key.kid, algorithm, state, signsFrom, neededUntil: until, stored })
        : [key.kid, algorithm, until === null ? state : `${state} until ${until}`, `from ${signsFrom}`, stored].join(
            '  ',
          ),
    )
  }
  return 0
}
