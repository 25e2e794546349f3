// Reads the state of the database and its signing keys for the doctor, without changing anything.
import { isSealed, KeyUnreadableError } from '../../../auth/tokens/key-cipher.ts'
import { importSigningKey } from '../../../auth/tokens/signing-key.ts'
import { reasonOf, UsageError } from '../../../errors.ts'
import { redact } from '../../../redact.ts'
import { StoreDamagedError } from '../../../store/contract.ts'
import { StoreMovedError } from '../../../store/cutover/contract.ts'
import { type Inspection, inspectDatabase } from '../../../store/inspection/inspection.ts'
import { openStore } from '../../../store/open-store.ts'
import { toStoreOptions } from '../../open-store-for-cli.ts'
import { argumentsToRetire, readKeyCipher } from '../../read-key-cipher.ts'
import type { DoctorConfig } from '../doctor-options.ts'
import type { RecommendCommand } from '../recommended-command.ts'
import { type Found, isFound, type NotUsable, type StoredKeys } from './context.ts'

export async function lookAtDatabase(config: DoctorConfig, clock: () => number): Promise<Found<Inspection>> {
  try {
    return await inspectDatabase(config.database, toStoreOptions(config), clock)
  } catch (error) {
    return { error: redact(reasonOf(error)) }
  }
}

export async function lookAtKeys(
  config: DoctorConfig,
  database: Found<Inspection>,
  recommend: RecommendCommand,
): Promise<Found<StoredKeys>> {
  if (!isFound(database)) return { reason: 'the database was not found' }
  // Opening a database with another schema version would migrate it.
  if (database.schemaVersion !== database.knownVersion) return { reason: 'the database has another schema version' }
  if (database.engine === 'sqlite' && database.files[0]?.uid !== process.getuid?.()) {
    return { reason: 'the database belongs to another user of this machine: run the doctor as that user' }
  }
  try {
    const cipher = readKeyCipher(config)
    await using store = await openStore(config.database, {
      ...toStoreOptions(config),
      // Finds what would prevent the next start.
      check: config.look === 'outside' ? 'off' : config.check,
      isReadOnly: database.engine === 'sqlite',
      mustExist: true,
      // The pooler is a finding of its own. Here it must not prevent reading the keys.
      ...(database.engine === 'postgres' && database.sharesServers ? { pooling: 'transaction' } : {}),
    })
    const stored = await store.signingKeys()
    return {
      keys: await Promise.all(stored.map((key) => importSigningKey(key, cipher))),
      areAllSealed: stored.every(({ privateJwk }) => isSealed(privateJwk)),
    }
  } catch (error) {
    return notUsable(error, recommend)
  }
}

function notUsable(error: unknown, recommend: RecommendCommand): NotUsable {
  const found = { error: redact(reasonOf(error)) }
  if (error instanceof KeyUnreadableError) {
    return error.reason === 'damaged'
      ? { ...found, run: recommend('keys retire', argumentsToRetire(error.kid)) }
      : found
  }
  if (error instanceof UsageError) return found
  if (error instanceof StoreMovedError) return { ...found, gateway: '--database URL', isOfDatabase: true }
  if (error instanceof StoreDamagedError) return { ...found, run: recommend('restore', 'FILE'), isOfDatabase: true }
  return { ...found, isOfDatabase: true }
}
