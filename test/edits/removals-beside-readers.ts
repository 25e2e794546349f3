// Changes the references of projects and then removes their users, over another connection, while a gateway answers
// reads: no answer may be older than its request.
import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Change } from '../../src/store/contract.ts'
import type { EditableStore } from '../../src/store/workspace-edits.ts'
import type { TestGateway } from '../support/gateway.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const READERS = 16
const USERS_PER_REMOVAL = 20
const OLD_EXPORT = '/exports?r=site'
const NEW_EXPORT = '/exports?r=moved'

export interface ReadersReport {
  readonly removed: number
  readonly reads: number
  /** Reads that were sent after a change was acknowledged, but were answered as if it had not happened. */
  readonly stale: readonly string[]
  /** Reads of users who were still stored that were not answered properly. */
  readonly wrong: readonly string[]
}

interface Reader {
  readonly email: string
  readonly accessToken: string
  readonly etags: Map<string, string>
  /** `asked` from the moment the change is requested, `done` once it is acknowledged. */
  newReference: 'none' | 'asked' | 'done'
  removal: 'none' | 'asked' | 'done'
}

export async function removeBesideReaders(
  gateway: TestGateway,
  remover: EditableStore,
  users: number,
): Promise<ReadersReport> {
  const emails = Array.from({ length: users }, (_, n) => `user${n}@example.com`)
  await gateway.load(emails.map(workspaceOf).join(''))
  const all: Reader[] = []
  for (let start = 0; start < users; start += READERS) {
    const some = await Promise.all(
      emails.slice(start, start + READERS).map(async (email) => ({ email, ...(await gateway.login(email)) })),
    )
    all.push(
      ...some.map(({ email, accessToken }) => ({
        ...{ email, accessToken, etags: new Map() },
        ...{ newReference: 'none' as const, removal: 'none' as const },
      })),
    )
  }
  const stale: string[] = []
  const wrong: string[] = []
  let reads = 0
  let isOver = false

  async function read(reader: Reader, path: string): Promise<void> {
    const [wasChanged, wasRemoved] = [reader.newReference === 'done', reader.removal === 'done']
    const etag = reader.etags.get(path)
    const { status, headers } = await gateway.get(path, reader.accessToken, etag ? { 'if-none-match': etag } : {})
    reads += 1
    reader.etags.set(path, headers.get('etag') ?? '')
    const said = `${path} of ${reader.email}: ${status}`
    if (wasRemoved && status !== 401) stale.push(said)
    if (reader.removal !== 'none') return
    const isThere = path !== OLD_EXPORT || reader.newReference === 'none'
    if (wasChanged && path === OLD_EXPORT && status !== 404) stale.push(said)
    if (isThere && status !== 200 && status !== 304) (path === NEW_EXPORT ? stale : wrong).push(said)
  }

  /** Reads around the place where users are being removed: before it, at it, and behind it. */
  async function readAlways(offset: number): Promise<void> {
    for (let n = 0; !isOver; n += 1) {
      const reader = all[Math.min(users - 1, Math.max(0, place - 40 + ((offset * 7 + n) % 120)))]
      if (!reader) continue
      const isChanged = n % 2 === 0 && reader.newReference === 'done'
      await read(reader, n % 3 !== 0 ? '/projects' : isChanged ? NEW_EXPORT : OLD_EXPORT)
    }
  }

  async function moreReads(): Promise<void> {
    const before = reads
    while (reads < before + 2 * READERS) await yieldTurn()
  }

  let place = 0
  const reading = Array.from({ length: READERS }, (_, offset) => readAlways(offset))
  for (; place < users; place += USERS_PER_REMOVAL) {
    const some = all.slice(place, place + USERS_PER_REMOVAL)
    for (const reader of some) reader.newReference = 'asked'
    await remover.applyChanges(some.map(({ email }) => changedProjectOf(email)))
    for (const reader of some) reader.newReference = 'done'
    await moreReads()
    // Includes the users whom no reader happened to read.
    await Promise.all(some.flatMap((reader) => [OLD_EXPORT, NEW_EXPORT].map((path) => read(reader, path))))
    for (const reader of some) reader.removal = 'asked'
    await remover.removeUsers(some.map(({ email }) => email))
    for (const reader of some) reader.removal = 'done'
    await moreReads()
  }
  isOver = true
  await Promise.all(reading)
  await Promise.all(all.slice(-100).map((reader) => read(reader, '/projects')))
  return { removed: users, reads, stale, wrong }
}

function changedProjectOf(email: string): Change {
  const text = `{"id":"p","ref":"moved","of":"${email}"}`
  return { type: 'putDocument', email, kind: 'project', id: 'p', ref: 'moved', text }
}

function workspaceOf(email: string): string {
  return (
    documentLine('project', email, `{"id":"p","ref":"site","of":"${email}"}`) +
    documentLine('template', email, '{"id":"t"}') +
    exportLine(email, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: [`"${email}"`] })
  )
}
