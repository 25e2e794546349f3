// keys retire: removes a signing key that is no longer needed, with its private part.
import { standingsOf } from '../../../auth/tokens/key-states.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { openCommandAudit } from '../../open-audit.ts'
import { openStoreToWrite } from '../../open-store-for-cli.ts'
import type { KeysRetireConfig } from '../../options/key-options.ts'
import { tellTraces } from './tell-traces.ts'

/** A run that was killed may have removed the key without erasing its bytes from the files. */
const UNKNOWN =
  'there is no signing key with this kid; if an earlier run was killed, run vacuum --full: the key that it removed may still be in the files of the database'

export async function runKeysRetire(kid: string, config: KeysRetireConfig, io: CommandIo): Promise<ExitCode> {
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  const keys = await store.signingKeys()
  const standings = standingsOf(keys, { now: io.clock(), accessTokenTtlSeconds: config.accessTokenTtl })
  const standing = standings[keys.findIndex((key) => key.kid === kid)]
  if (!standing) return refuse(UNKNOWN, io)
  if (config.force !== true && standing.state === 'signing') {
    return refuse(
      'this key is in use for signing: add another one with keys rotate first, or give --force to have all its tokens refused',
      io,
    )
  }
  if (config.force !== true && standing.neededUntil !== null) {
    const until = new Date(standing.neededUntil).toISOString()
    return refuse(`tokens of this key may be in use until ${until}: wait, or give --force to have them refused`, io)
  }
  const removed = await tellTraces(io, () => store.removeSigningKey(kid))
  if (removed === false) return refuse(UNKNOWN, io)
  audit.record({ kind: 'keyRetired', result: 'done', detail: kid })
  io.stdout.write(`${kid} was removed\n`)
  return removed === 'tracesLeft' ? 1 : 0
}

function refuse(reason: string, { stderr }: CommandIo): ExitCode {
  stderr.write(`${reason}\n`)
  return 1
}
