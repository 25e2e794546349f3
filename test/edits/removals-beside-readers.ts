// Changes the references of projects, then replaces the workspaces of their users, and then removes them, over another
// connection, while a gateway answers reads: no answer may be older than its request, or a mixture of two workspaces.
import { randomUUID } from 'node:crypto'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Change } from '../../src/store/contract.ts'
import type { EditableStore, ReplacementStep } from '../../src/store/workspace-edits.ts'
import type { TestGateway } from '../support/gateway.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const READERS = 16
const USERS_PER_REMOVAL = 20
const OLD_EXPORT = '/exports?r=site'
const NEW_EXPORT = '/exports?r=moved'
const CREATED_AT = '2026-01-01T00:00:00Z'
const EVERYTHING = '{ me { projects { data } templates { data } latestExport(ref: "moved") { data } } }'

export interface ReadersReport {
  readonly removed: number
  readonly reads: number
  /** Reads that were sent after a change was acknowledged, but were answered as if it had not happened. */
  readonly stale: readonly string[]
  /** Reads of users who were still stored that were not answered properly. */
  readonly wrong: readonly string[]
  /** Answers with a part of the old workspace and a part of its replacement. */
  readonly mixed: readonly string[]
}

interface Reader {
  readonly email: string
  readonly accessToken: string
  readonly etags: Map<string, string>
  /** `asked` from the moment the change is requested, `done` once it is acknowledged. */
  newReference: 'none' | 'asked' | 'done'
  replacement: 'none' | 'asked' | 'done'
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
        ...{ newReference: 'none' as const, replacement: 'none' as const, removal: 'none' as const },
      })),
    )
  }
  const stale: string[] = []
  const wrong: string[] = []
  const mixed: string[] = []
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

  /** Reads, in one request, everything that is replaced together. */
  async function readEverything(reader: Reader): Promise<void> {
    const { accessToken, email, newReference, replacement: before } = reader
    if (newReference !== 'done') return
    const { text } = await gateway.graphql(EVERYTHING, { accessToken })
    reads += 1
    if (reader.removal !== 'none') return
    const versions = Array.from(text.matchAll(/"v":(\d)/g), ([, version]) => version).join('')
    const said = `${email}: ${versions}`
    if (!['111', '222'].includes(versions)) mixed.push(said)
    if (before === 'done' && versions !== '222') stale.push(said)
  }

  /** Reads around the place where users are being removed: before it, at it, and behind it. */
  async function readAlways(offset: number): Promise<void> {
    for (let n = 0; !isOver; n += 1) {
      const reader = all[Math.min(users - 1, Math.max(0, place - 40 + ((offset * 7 + n) % 120)))]
      if (!reader) continue
      const isChanged = n % 2 === 0 && reader.newReference === 'done'
      await read(reader, n % 3 !== 0 ? '/projects' : isChanged ? NEW_EXPORT : OLD_EXPORT)
      await readEverything(reader)
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
    for (const reader of some) reader.replacement = 'asked'
    await Promise.all([replaceAll(some), ...some.map(readEverything)])
    for (const reader of some) reader.replacement = 'done'
    await Promise.all(some.map(readEverything))
    for (const reader of some) reader.removal = 'asked'
    await remover.removeUsers(some.map(({ email }) => email))
    for (const reader of some) reader.removal = 'done'
    await moreReads()
  }
  isOver = true
  await Promise.all(reading)
  await Promise.all(all.slice(-100).map((reader) => read(reader, '/projects')))
  return { removed: users, reads, stale, wrong, mixed }

  async function replaceAll(some: readonly Reader[]): Promise<void> {
    const replacement = randomUUID()
    await remover.beginReplacement(replacement, 0)
    await remover.stageReplacement(
      replacement,
      some.flatMap(({ email }) => replacementOf(email)),
      0,
    )
    const question = { replacement, after: '', maxDocuments: 2 * USERS_PER_REMOVAL, isDryRun: false, now: 0 }
    expect(await remover.swapReplacement(question)).toHaveLength(some.length)
    await remover.endReplacement(replacement)
  }
}

/** What `EVERYTHING` reads has the version of the workspace that it belongs to. */
const projectText = (email: string, ref: string, version: number) =>
  `{"id":"p","ref":"${ref}","of":"${email}","v":${version}}`
const templateText = (version: number) => `{"id":"t","v":${version}}`
const elementText = (email: string, version: number) => `{"of":"${email}","v":${version}}`

function changedProjectOf(email: string): Change {
  return { type: 'putDocument', email, kind: 'project', id: 'p', ref: 'moved', text: projectText(email, 'moved', 1) }
}

function replacementOf(email: string): readonly ReplacementStep[] {
  const stage = randomUUID()
  const element = elementText(email, 2)
  return [
    { type: 'stageDocument', email, kind: 'project', id: 'p', ref: 'moved', text: projectText(email, 'moved', 2) },
    { type: 'stageDocument', email, kind: 'template', id: 't', ref: null, text: templateText(2) },
    { type: 'stageExport', stage, email, ref: 'moved', createdAt: CREATED_AT, instant: CREATED_AT },
    { type: 'stageElements', stage, position: 1, texts: [element] },
    { type: 'sealExport', stage, digest: element, byteLength: element.length + 2, elementCount: 1 },
  ]
}

function workspaceOf(email: string): string {
  return (
    documentLine('project', email, projectText(email, 'site', 1)) +
    documentLine('template', email, templateText(1)) +
    exportLine(email, { r: 'site', createdAt: CREATED_AT, elements: [elementText(email, 1)] })
  )
}
