// Creates a database with an export of 100 MB in 100,000 elements, and 200 users with small workspaces.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { seededRandom } from '../../test/support/seeded-random.ts'
import type { Machine } from '../machine.ts'
import { startGateway } from '../servers/start.ts'
import { emailOf, type SignedIn, signIn, writeWorkspaces } from './workspaces.ts'

const ELEMENTS = 100_000
const CONTENT_LENGTH = 950
const SMALL_USERS = 200
const EMAIL = 'large@example.com'
const REF = 'large'
const WORDS =
  'import export function const return render component button header style width color margin value items user project'.split(
    ' ',
  )

export const EXPORT_PATH = `/exports?r=${REF}`

export interface LargeExport {
  readonly databaseUrl: string
  readonly owner: SignedIn
  readonly smallUsers: readonly SignedIn[]
  /** A file with exactly the bytes that the gateway answers. */
  readonly bodyFile: string
  readonly byteLength: number
}

const prepared = new WeakMap<Machine, Promise<LargeExport>>()

/** Created at the first call, once per machine. */
export function largeExport(machine: Machine): Promise<LargeExport> {
  const known = prepared.get(machine) ?? prepare(machine)
  prepared.set(machine, known)
  return known
}

async function prepare(machine: Machine): Promise<LargeExport> {
  const databaseUrl = `file:${join(machine.directory, 'large-export.db')}`
  for (const [name, write] of [
    ['small-users.ndjson', (path: string) => writeWorkspaces(path, SMALL_USERS, () => false)],
    ['large-export.ndjson', writeExport],
  ] as const) {
    const input = join(machine.directory, name)
    await write(input)
    await promisify(execFile)(process.execPath, [machine.program, 'import', input, '--database', databaseUrl])
  }
  const emails = [EMAIL, ...Array.from({ length: SMALL_USERS }, (_, user) => emailOf(user))]
  const [owner, ...smallUsers] = await signIn(machine, databaseUrl, emails)
  if (!owner) throw new Error('nobody signed in')
  const bodyFile = join(machine.directory, 'large-export.json')
  await using gateway = await startGateway(machine, databaseUrl)
  const headers = { authorization: `Bearer ${owner.accessToken}`, 'accept-encoding': 'identity' }
  const response = await fetch(`${gateway.url}${EXPORT_PATH}`, { headers })
  const bytes = new Uint8Array(await response.arrayBuffer())
  await writeFile(bodyFile, bytes)
  return { databaseUrl, owner, smallUsers, bodyFile, byteLength: bytes.byteLength }
}

async function writeExport(path: string): Promise<void> {
  const random = seededRandom(3)
  const file = createWriteStream(path)
  const put = async (record: object) => {
    if (!file.write(`${JSON.stringify(record)}\n`)) await once(file, 'drain')
  }
  await put({ kind: 'project', email: EMAIL, data: { id: REF, ref: REF } })
  await put({ kind: 'export', email: EMAIL, r: REF, createdAt: '2026-01-01T00:00:00Z', id: 'x' })
  for (let element = 0; element < ELEMENTS; element += 1) {
    let content = ''
    while (content.length < CONTENT_LENGTH) content += `${WORDS[Math.floor(random() * WORDS.length)]} `
    await put({ kind: 'exportElement', export: 'x', data: { path: `src/file-${element}.ts`, content } })
  }
  file.end()
  await finished(file)
}
