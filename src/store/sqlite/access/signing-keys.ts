// Stores signing keys in SQLite, and erases removed ones from the files.
import type { Database } from 'better-sqlite3'
import { reasonOf } from '../../../errors.ts'
import { TracesLeftError } from '../../contract.ts'
import type { MigratableStore } from '../../cutover/contract.ts'
import type { SigningKeyVerbs, StoredSigningKey } from '../../signing-key-contract.ts'
import type { FaultLatch } from '../engine/faults/fault-latch.ts'
import type { GroupCommit } from '../engine/group-commit.ts'
import type { ReadTransaction } from '../engine/read-transaction.ts'
import type { EraseTraces } from './erase-traces.ts'

const KEYS =
  'select kid, private_jwk as privateJwk, created_at as createdAt from signing_key order by created_at desc, kid'

export function createSigningKeys(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
  eraseTraces: EraseTraces,
  faults: FaultLatch,
): SigningKeyVerbs & Pick<MigratableStore, 'eraseKeyTraces'> {
  const keys = reader.prepare<[], StoredSigningKey>(KEYS)
  const keysForWriting = writer.prepare<[], StoredSigningKey>(KEYS)
  const add = writer.prepare<[string, string, number]>(
    'insert into signing_key (kid, private_jwk, created_at) values (?, ?, ?)',
  )
  const remove = writer.prepare<[string]>('delete from signing_key where kid = ?')
  const rewrite = writer.prepare<[string, string]>('update signing_key set private_jwk = ? where kid = ?')

  const textsNow = () => keysForWriting.all().map(({ privateJwk }) => privateJwk)

  /** Erases the `gone` texts from the files, except for those that are also in `kept`. Throws `TracesLeftError`. */
  async function erase(gone: readonly string[], kept: () => readonly string[]): Promise<void> {
    try {
      await eraseTraces(gone, kept())
    } catch (error) {
      const cause = faults.toStoreError(error)
      throw new TracesLeftError(reasonOf(cause), { cause })
    }
  }

  /** Runs a write that removes texts from the table, and then erases them from the files. */
  async function erasing<T>(write: () => T): Promise<T> {
    const done = await commits.write(() => {
      const before = textsNow()
      return { answer: write(), before, kept: textsNow() }
    })
    await erase(done.before, () => done.kept)
    return done.answer
  }

  return {
    signingKeys: () => turn.decide(() => keys.all()),
    addSigningKey: (key, newestKid) =>
      commits.write(() => {
        if ((keysForWriting.get()?.kid ?? null) !== newestKid) return false
        add.run(key.kid, key.privateJwk, key.createdAt)
        return true
      }),
    removeSigningKey: (kid) => erasing(() => remove.run(kid).changes > 0),
    rewriteSigningKeys: (rewritten) =>
      erasing(() => {
        for (const { kid, privateJwk } of rewritten) rewrite.run(privateJwk, kid)
      }),
    eraseKeyTraces: (gone) => erase(gone, textsNow),
  }
}
