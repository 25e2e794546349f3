// Creates the data of the benchmark: users with 20 projects each (4.7 kB as one array), a template and a library. Users
// who sign in also have an export of each project.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { rawRead } from '../../test/support/raw-read.ts'
import { fillIn, type LoadRequest } from '../load/plan.ts'
import type { Machine } from '../machine.ts'
import { type SampleAnswer, startGateway } from '../servers/start.ts'

/** The values of a user that requests contain. */
export type SignedIn = {
  readonly email: string
  readonly accessToken: string
  readonly refreshToken: string
}

export interface Workspace {
  /** The SQLite file. */
  readonly database: string
  /** The URL for the gateway's commands. */
  readonly databaseUrl: string
  /** The signed-in users, spread evenly over all. */
  readonly users: readonly SignedIn[]
}

/** Number of logins in flight. */
const SIGNING_IN = 64

/** Imports all users into a new SQLite database and signs some of them in. */
export async function prepareWorkspace(machine: Machine, signedIn: number): Promise<Workspace> {
  const input = join(machine.directory, 'workspaces.ndjson')
  const database = join(machine.directory, 'workspace.db')
  const databaseUrl = `file:${database}`
  const stride = Math.max(1, Math.floor(machine.users / signedIn))
  await writeWorkspaces(input, machine.users, (user) => user % stride === 0)
  await promisify(execFile)(process.execPath, [machine.program, 'import', input, '--database', databaseUrl])
  const emails = Array.from({ length: Math.min(signedIn, machine.users) }, (_, index) => emailOf(index * stride))
  return { database, databaseUrl, users: await signIn(machine, databaseUrl, emails) }
}

/** Opens a session for each email, and returns them in the order given. */
export async function signIn(
  machine: Machine,
  databaseUrl: string,
  emails: readonly string[],
): Promise<readonly SignedIn[]> {
  await using gateway = await startGateway(machine, databaseUrl)
  const users: SignedIn[] = []
  let next = 0
  const signInNext = async () => {
    for (let index = next++; index < emails.length; index = next++) {
      const email = emails[index] ?? ''
      const response = await fetch(`${gateway.url}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email }),
      })
      const tokens = (await response.json()) as { readonly accessToken: string; readonly refreshToken: string }
      users[index] = { email, ...tokens }
    }
  }
  await Promise.all(Array.from({ length: SIGNING_IN }, signInNext))
  return users
}

/** The answer of the gateway to the request of the first user. */
export async function sampleOf(
  machine: Machine,
  { databaseUrl }: Pick<Workspace, 'databaseUrl'>,
  request: LoadRequest,
  users: readonly Readonly<Record<string, string>>[],
): Promise<SampleAnswer> {
  await using gateway = await startGateway(machine, databaseUrl)
  const { path, ...asked } = fillIn(request, users[0] ?? {})
  const { status, headers, bytes } = await rawRead(`${gateway.url}${path}`, asked)
  // Left out: headers that node:http adds itself, and headers about the transfer.
  const shown = Object.entries(headers).filter(
    ([name]) => !/^(?:date|connection|keep-alive|content-length|transfer-encoding)$/.test(name),
  )
  return { status, headers: Object.fromEntries(shown.map(([name, value]) => [name, String(value)])), bytes }
}

/** The users, each with the entity tag of their `GET /projects` answer. */
export async function entityTagsOf(
  machine: Machine,
  { databaseUrl, users }: Workspace,
): Promise<readonly (SignedIn & { readonly etag: string })[]> {
  await using gateway = await startGateway(machine, databaseUrl)
  const tagged = []
  for (const user of users) {
    const headers = { authorization: `Bearer ${user.accessToken}`, 'accept-encoding': 'identity' }
    const response = await fetch(`${gateway.url}/projects`, { headers })
    await response.arrayBuffer()
    tagged.push({ ...user, etag: response.headers.get('etag') ?? '' })
  }
  return tagged
}

const PROJECTS = 20
const WORDS = 'quiet harbour lantern meadow copper river atlas ember willow orbit'.split(' ')

export async function writeWorkspaces(
  path: string,
  users: number,
  hasExports: (user: number) => boolean,
): Promise<void> {
  const file = createWriteStream(path)
  for (let user = 0; user < users; user += 1) {
    if (!file.write(workspaceOf(user, hasExports(user)))) await once(file, 'drain')
  }
  file.end()
  await finished(file)
}

export function emailOf(user: number): string {
  return `user${user}@example.com`
}

function workspaceOf(user: number, hasExports: boolean): string {
  const email = emailOf(user)
  const lines: object[] = []
  for (let index = 0; index < PROJECTS; index += 1) {
    const word = (offset: number) => WORDS[(user + index * 7 + offset * 3) % WORDS.length]
    const ref = `${word(0)}-${word(1)}-${index}`
    const data = {
      id: `prj_${user}_${index}`,
      ref,
      name: `${word(0)} ${word(1)} ${index}`,
      description: `The ${word(2)} ${word(3)} of the ${word(4)}`,
      framework: index % 2 ? 'react' : 'vue',
      tags: [word(5), word(6)],
      createdAt: '2026-01-01T00:00:00Z',
      updatedAt: '2026-02-01T00:00:00Z',
    }
    lines.push({ kind: 'project', email, data })
    const page = [{ path: 'index.html', content: '' }]
    if (hasExports) lines.push({ kind: 'export', email, r: ref, createdAt: '2026-01-01T00:00:00Z', data: page })
  }
  lines.push({ kind: 'template', email, data: { id: 't', name: 'Landing' } })
  lines.push({ kind: 'uiLibrary', email, data: { id: 'l', name: 'Buttons' } })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
