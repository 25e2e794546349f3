// Users removed by another connection while a gateway answers their reads: no answer may be older than its request.
import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { EditableStore } from '../../src/store/workspace-edits.ts'
import type { TestGateway } from '../support/gateway.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const READERS = 16
const USERS_PER_REMOVAL = 20

export interface ReadersReport {
  readonly removed: number
  readonly reads: number
  /** Reads that were asked after the removal was acknowledged, and were answered as if it had not been. */
  readonly stale: readonly string[]
  /** Reads of users who were still there, and were not answered. */
  readonly wrong: readonly string[]
}

interface Reader {
  readonly email: string
  readonly accessToken: string
  readonly etags: Map<string, string>
  /** `asked` from the moment the removal is asked for, `done` once it is acknowledged. */
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
      ...some.map(({ email, accessToken }) => ({ email, accessToken, etags: new Map(), removal: 'none' as const })),
    )
  }
  const stale: string[] = []
  const wrong: string[] = []
  let reads = 0
  let isOver = false

  async function read(reader: Reader, path: string): Promise<void> {
    const wasRemoved = reader.removal === 'done'
    const etag = reader.etags.get(path)
    const { status, headers } = await gateway.get(path, reader.accessToken, etag ? { 'if-none-match': etag } : {})
    reads += 1
    reader.etags.set(path, headers.get('etag') ?? '')
    if (wasRemoved && status !== 401) stale.push(`${path} of ${reader.email}: ${status}`)
    if (reader.removal === 'none' && status !== 200 && status !== 304)
      wrong.push(`${path} of ${reader.email}: ${status}`)
  }

  /** Around the place where users are being removed: before, at it, behind. */
  async function readAlways(offset: number): Promise<void> {
    for (let n = 0; !isOver; n += 1) {
      const reader = all[Math.min(users - 1, Math.max(0, place - 40 + ((offset * 7 + n) % 120)))]
      if (reader) await read(reader, n % 3 === 0 ? '/exports?r=site' : '/projects')
    }
  }

  let place = 0
  const reading = Array.from({ length: READERS }, (_, offset) => readAlways(offset))
  for (; place < users; place += USERS_PER_REMOVAL) {
    const some = all.slice(place, place + USERS_PER_REMOVAL)
    const before = reads
    for (const reader of some) reader.removal = 'asked'
    await remover.removeUsers(some.map(({ email }) => email))
    for (const reader of some) reader.removal = 'done'
    while (reads < before + 2 * READERS) await yieldTurn()
  }
  isOver = true
  await Promise.all(reading)
  for (const reader of all.slice(-100)) await read(reader, '/projects')
  return { removed: users, reads, stale, wrong }
}

function workspaceOf(email: string): string {
  return (
    documentLine('project', email, `{"id":"p","ref":"site","of":"${email}"}`) +
    documentLine('template', email, '{"id":"t"}') +
    exportLine(email, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: [`"${email}"`] })
  )
}
