// Everything of one database into another: workspaces user by user, then sessions and signing keys.
import { createHash, randomUUID } from 'node:crypto'
import type { Change, DocumentKind, NewSession, Snapshot, Store, StoredExport, StoredUser } from '../store/store.ts'
import { createExportDigest } from './export-digest.ts'

const USERS_PER_READ = 256
const SESSIONS_PER_READ = 1_000
const ITEMS_PER_READ = 256
/** What one transaction holds at most. */
const MAX_CHANGES = 1_000
const MAX_TEXT_LENGTH = 4_194_304
const KINDS: readonly DocumentKind[] = ['project', 'template', 'uiLibrary']

export interface MoveCounts {
  users: number
  /** Users that an earlier run had brought over whole. */
  usersThereBefore: number
  documents: number
  exports: number
  sessions: number
  keys: number
}

/** The two databases differ where they should be the same: what was found, in words. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

/**
 * Nobody may write to either meanwhile. May be broken off and run again: what is there already is compared, not copied.
 * Every user is read back from `to` and compared by digest. Throws `MoveError`.
 */
export async function move(
  from: Store,
  to: Store,
  clock: () => number,
  onProgress: (counts: Readonly<MoveCounts>) => void,
): Promise<Readonly<MoveCounts>> {
  const counts = { users: 0, usersThereBefore: 0, documents: 0, exports: 0, sessions: 0, keys: 0 }
  await requireNoStrangers(from, to)
  {
    await using source = await from.openSnapshot()
    for await (const user of usersOf(source)) {
      await moveUser(user, source, to, clock, counts)
      onProgress(counts)
    }
  }
  await moveSessions(from, to, counts, () => onProgress(counts))
  const keys = await from.signingKeys()
  await to.addMissing({ emails: [], sessions: [], keys })
  counts.keys = keys.length
  return counts
}

/** A target with workspaces that the source does not have is somebody's database. */
async function requireNoStrangers(from: Store, to: Store): Promise<void> {
  for await (const { email } of usersOf(to)) {
    if (!(await from.userByEmail(email))) {
      throw new MoveError(
        '--to holds workspaces that --from does not have: it must be empty, or left by a move from there',
      )
    }
  }
}

async function moveUser(
  user: StoredUser,
  source: Snapshot,
  to: Store,
  clock: () => number,
  counts: MoveCounts,
): Promise<void> {
  counts.users += 1
  const wanted = await digestOf(source, user.id, counts)
  const there = await to.userByEmail(user.email)
  if (there && (await digestOf(to, there.id)) === wanted) {
    counts.usersThereBefore += 1
    return
  }
  await copyUser(user, source, to, clock)
  const copied = await to.userByEmail(user.email)
  if (!copied || (await digestOf(to, copied.id)) !== wanted) {
    throw new MoveError(`user ${user.id} of --from is not the same in --to: was one of the two written to meanwhile?`)
  }
}

async function copyUser({ id, email }: StoredUser, source: Snapshot, to: Store, clock: () => number): Promise<void> {
  let changes: Change[] = []
  let textLength = 0

  async function put(change: Change, length: number): Promise<void> {
    changes.push(change)
    textLength += length
    if (changes.length >= MAX_CHANGES || textLength >= MAX_TEXT_LENGTH) await flush()
  }

  async function flush(): Promise<void> {
    const outcomes = await to.applyChanges(changes)
    if (outcomes.includes('refTaken')) throw new MoveError('a reference is taken by another project in --to')
    changes = []
    textLength = 0
  }

  for await (const { kind, id: documentId, ref, text } of documentsOf(source, id)) {
    await put({ type: 'putDocument', email, kind, id: documentId, ref, text }, text.length)
  }
  for await (const { id: exportId, ref, createdAt, instant, digest, byteLength, elementCount } of exportsOf(
    source,
    id,
  )) {
    const stage = randomUUID()
    await put({ type: 'stageExport', stage, email, ref, createdAt, instant, now: clock() }, 0)
    for await (const { position, text } of elementsOf(source, id, exportId)) {
      await put({ type: 'stageElements', stage, position, texts: [text], now: clock() }, text.length)
    }
    await put({ type: 'sealExport', stage, digest, byteLength, elementCount }, 0)
  }
  if (changes.length > 0) await flush()
  // Somebody whose workspace is empty.
  else await to.addMissing({ emails: [email], sessions: [], keys: [] })
}

/** Of everything a user has, in order; the digests of exports are computed from their elements. */
async function digestOf(reads: Snapshot | Store, userId: number, counts?: MoveCounts): Promise<string> {
  const hash = createHash('sha256')
  const add = (...parts: readonly (string | number | null)[]) => hash.update(`${JSON.stringify(parts)}\n`)
  for await (const { kind, id, ref, text } of documentsOf(reads, userId)) {
    add(kind, id, ref, text)
    if (counts) counts.documents += 1
  }
  for await (const { id, ref, createdAt, instant, digest } of exportsOf(reads, userId)) {
    const computed = createExportDigest()
    for await (const { text } of elementsOf(reads, userId, id)) computed.add(text)
    const found = computed.finish()
    if (found.digest !== digest) throw new MoveError('the elements of an export do not have its digest')
    add(ref, createdAt, instant, digest, found.byteLength, found.elementCount)
    if (counts) counts.exports += 1
  }
  return hash.digest('hex')
}

/** Also ends in `to` what an earlier run brought over and a logout has ended since. */
async function moveSessions(from: Store, to: Store, counts: MoveCounts, onProgress: () => void): Promise<void> {
  for (let after = ''; ; ) {
    const sessions = await from.sessionsAfter(after, SESSIONS_PER_READ)
    const last = sessions.at(-1)
    const there = (await to.sessionsAfter(after, SESSIONS_PER_READ)).filter(({ id }) => !last || id <= last.id)
    const wanted = new Set(sessions.map(({ id }) => id))
    const ended = there.filter(({ id }) => !wanted.has(id))
    await to.revokeSessions(
      ended.map(({ refreshHash }) => refreshHash),
      0,
    )
    await to.addMissing({ emails: [], sessions, keys: [] })
    await to.extendSessions(sessions.map(({ id, idleExpiresAt }) => ({ id, idleExpiresAt })))
    await requireSessions(to, after, sessions)
    counts.sessions += sessions.length
    onProgress()
    if (!last && ended.length === 0) return
    after = last?.id ?? after
  }
}

async function requireSessions(to: Store, after: string, wanted: readonly NewSession[]): Promise<void> {
  const found = await to.sessionsAfter(after, wanted.length)
  const inWords = (sessions: readonly NewSession[]) =>
    JSON.stringify(
      sessions.map((session) => ({ ...session, refreshHash: Buffer.from(session.refreshHash).toString('hex') })),
    )
  if (wanted.length > 0 && inWords(found) !== inWords(wanted)) {
    throw new MoveError('the sessions of --from and --to are not the same: was one of the two written to meanwhile?')
  }
}

async function* usersOf(reads: Snapshot | Store): AsyncGenerator<StoredUser> {
  for (let after = ''; ; ) {
    const users = await reads.usersAfter(after, USERS_PER_READ)
    yield* users
    const last = users.at(-1)
    if (!last) return
    after = last.email
  }
}

async function* documentsOf(reads: Snapshot | Store, userId: number) {
  for (const kind of KINDS) {
    for (let after = 0; ; ) {
      const [page = []] = await reads.documentsOf([{ userId, kind, after, limit: ITEMS_PER_READ }])
      yield* page
      const last = page.at(-1)
      if (!last) break
      after = last.position
    }
  }
}

/** By reference, each oldest first: copied in this order, those of one instant stay in theirs. */
async function* exportsOf(reads: Snapshot | Store, userId: number): AsyncGenerator<StoredExport> {
  const refs = await Array.fromAsync(projectRefs(reads, userId))
  refs.push(...(await reads.exportRefsWithoutProject(userId)))
  for (let start = 0; start < refs.length; start += ITEMS_PER_READ) {
    const pages = refs.slice(start, start + ITEMS_PER_READ).map((ref) => ({ userId, ref, after: null, limit: null }))
    for (const exports of await reads.exportsOf(pages)) yield* exports.toReversed()
  }
}

async function* projectRefs(reads: Snapshot | Store, userId: number): AsyncGenerator<string> {
  for await (const { ref } of documentsOf(reads, userId)) if (ref !== null) yield ref
}

async function* elementsOf(reads: Snapshot | Store, userId: number, exportId: number) {
  for (let after = 0; ; ) {
    const [page = []] = await reads.elementsOf([{ userId, exportId, after, limit: ITEMS_PER_READ }])
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last.position
  }
}
