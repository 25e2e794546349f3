// Copies sessions and signing keys from the source to the target and verifies them.
import { reasonOf } from '../errors.ts'
import { type NewSession, type StoredSigningKey, TracesLeftError } from '../store/contract.ts'
import type { MigratableStore } from '../store/cutover/contract.ts'
import { sessionPages } from '../store/paging/paging.ts'
import { createCopyBatch, MoveError, type MoveTarget, type Target } from './row-copies.ts'

const SESSIONS_PER_READ = 1_000

/**
 * Copies all sessions and reports the number of sessions after each page. Sessions that the source does not have are
 * removed from the target.
 */
export async function copySessions(
  source: MigratableStore,
  target: Target,
  onPage: (count: number) => Promise<void>,
): Promise<void> {
  for await (const page of sessionPages(source)) {
    await syncSessions(page, await target.store.sessionsById(idsOf(page)), target)
    await onPage(page.length)
  }
  for await (const page of sessionPages(target.store)) {
    const kept = new Set(idsOf(await source.sessionsById(idsOf(page))))
    await syncSessions(
      [],
      page.filter(({ id }) => !kept.has(id)),
      target,
    )
    await onPage(0)
  }
}

function idsOf(sessions: readonly NewSession[]): readonly string[] {
  return sessions.map(({ id }) => id)
}

/** Copies the changed sessions. An id that the source does not have, or no longer has, is removed from the target. */
export async function copySessionsById(ids: readonly string[], source: MigratableStore, target: Target): Promise<void> {
  for (let start = 0; start < ids.length; start += SESSIONS_PER_READ) {
    const asked = ids.slice(start, start + SESSIONS_PER_READ)
    const [wanted, there] = await Promise.all([source.sessionsById(asked), target.store.sessionsById(asked)])
    await syncSessions(wanted, there, target)
  }
}

async function syncSessions(
  wanted: readonly NewSession[],
  there: readonly NewSession[],
  target: Target,
): Promise<void> {
  const before = new Map(there.map((session) => [session.id, fingerprint(session)]))
  const batch = createCopyBatch(target)
  const kept = new Set(wanted.map(({ id }) => id))
  const dropped = there.filter(({ id }) => !kept.has(id))
  const changed = wanted.filter((session) => before.get(session.id) !== fingerprint(session))
  for (const { id } of dropped) await batch.put({ type: 'dropSession', id })
  for (const session of changed) await batch.put({ type: 'putSession', session })
  await batch.flush()
  const found = await target.store.sessionsById(idsOf([...dropped, ...changed]))
  const after = new Map(found.map((session) => [session.id, fingerprint(session)]))
  if (after.size !== changed.length || changed.some((session) => after.get(session.id) !== fingerprint(session))) {
    throw new MoveError(
      'the sessions of the source and the target are not the same: is something else writing to the target?',
    )
  }
}

/** Copies all signing keys. Returns their number. */
export async function copyKeys(source: MigratableStore, target: MoveTarget): Promise<number> {
  const wanted = await source.signingKeys()
  const there = await target.store.signingKeys()
  const batch = createCopyBatch(target)
  const kept = new Set(wanted.map(({ kid }) => kid))
  for (const { kid } of there) if (!kept.has(kid)) await batch.put({ type: 'dropKey', kid })
  for (const key of wanted) await batch.put({ type: 'putKey', key })
  await batch.flush()
  const texts = new Set(wanted.map(({ privateJwk }) => privateJwk))
  for (const { privateJwk } of there) if (!texts.has(privateJwk)) target.gone.add(privateJwk)
  if (keysInWords(await target.store.signingKeys()) !== keysInWords(wanted)) {
    throw new MoveError(
      'the signing keys of the source and the target are not the same: is something else writing to the target?',
    )
  }
  return wanted.length
}

/**
 * Erases the traces of the keys that `copyKeys` removed. Must be called at the end, because it may wait for readers of
 * older states.
 */
export async function eraseGoneKeys(
  { store, gone }: MoveTarget,
  onTracesLeft: (error: TracesLeftError) => void,
): Promise<void> {
  if (gone.size === 0) return
  try {
    await store.eraseKeyTraces([...gone])
  } catch (error) {
    // An error here must not hide the error that ended the move.
    onTracesLeft(error instanceof TracesLeftError ? error : new TracesLeftError(reasonOf(error), { cause: error }))
  }
}

function fingerprint(session: NewSession): string {
  const { id, email, refreshHash, createdAt, lastUsedAt, idleExpiresAt, expiresAt, userAgent, network, client } =
    session
  const hash = Buffer.from(refreshHash).toString('hex')
  return JSON.stringify([id, email, hash, createdAt, lastUsedAt, idleExpiresAt, expiresAt, userAgent, network, client])
}

function keysInWords(keys: readonly StoredSigningKey[]): string {
  return JSON.stringify(keys.map(({ kid, privateJwk, createdAt }) => [kid, privateJwk, createdAt]))
}
