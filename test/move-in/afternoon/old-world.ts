// The content of the old server, and what its users change while it is followed.
import { setTimeout as delay } from 'node:timers/promises'
import { memberText } from '../../../src/json-text.ts'
import type { PlainServer } from '../../support/plain-server.ts'
import { type PlainWorkspace, plainWorkspaces } from '../../support/plain-workspaces.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'

export const LISTS = ['/projects', '/templates', '/ui-libraries']
/** The reference of the large export. */
export const LARGE = 'large'
const LARGE_CREATED_AT = '2026-01-01T00:00:00Z'
const NOTHING: PlainWorkspace = { projects: [], templates: [], uiLibraries: [], exports: new Map() }

export interface OldWorld {
  /** Import records of real users: every user gets the workspace of one of them. */
  readonly sample: string
  readonly users: number
  /** The size of the large export. */
  readonly exportBytes: number
}

/** Adds the users of the sample repeatedly under other names; the first one also gets the large export. */
export function addUsers({ workspaces }: PlainServer, { sample, users, exportBytes }: OldWorld): void {
  const models = [...plainWorkspaces(sample).values()]
  for (let index = 0; index < users; index += 1) {
    const { projects, templates, uiLibraries, exports } = models[index % models.length] ?? NOTHING
    workspaces.set(`user-${index}@example.com`, {
      projects: [...projects],
      templates: [...templates],
      uiLibraries: [...uiLibraries],
      exports: new Map(exports),
    })
  }
  const element = `{"path":"large.html","n":1.0,"text":"${'x\\u00e9é'.repeat(12_500)}"}`
  const elements = Array.from({ length: Math.ceil(exportBytes / Buffer.byteLength(element)) }, () => element)
  const first = workspaces.get('user-0@example.com')
  first?.projects.push(`{"id":"${LARGE}","ref":"${LARGE}"}`)
  first?.exports.set(LARGE, { createdAt: LARGE_CREATED_AT, elements })
}

/** Changes workspaces of these users on the old server one by one. The new names of different rounds differ. */
export async function writeThere(
  { workspaces }: PlainServer,
  emails: readonly string[],
  writes: number,
  random: SeededRandom,
  round: number,
): Promise<void> {
  for (let write = 1; write <= writes; write += 1) {
    const workspace = workspaces.get(emails[random.below(emails.length)] ?? '')
    const kind = random.below(4)
    const ref = `new-${round}-${write}`
    if (kind === 0) workspace?.templates.push(`{"id":"${ref}","n":${write}.0}`)
    if (kind === 1) workspace?.projects.unshift(`{"id":"${ref}","ref":"${ref}"}`)
    if (kind === 2) workspace?.projects.reverse()
    const known = [...(workspace?.exports.keys() ?? [])].find((name) => name !== LARGE) ?? ref
    if (kind === 3) workspace?.exports.set(known, { createdAt: LARGE_CREATED_AT, elements: [`{"write":${write}.0}`] })
    // Lets others run.
    await delay(5)
  }
}

/** Changes one byte in the middle of the large export; returns its offset in the answer, counted from 0. */
export function changeLargeExport({ workspaces }: PlainServer): number {
  const workspace = workspaces.get('user-0@example.com')
  const elements = [...(workspace?.exports.get(LARGE)?.elements ?? [])]
  const middle = Math.floor(elements.length / 2)
  const before = elements[middle] ?? ''
  elements[middle] = before.replace('"n":1.0', '"n":1.5')
  workspace?.exports.set(LARGE, { createdAt: LARGE_CREATED_AT, elements })
  return 1 + middle * (Buffer.byteLength(before) + 1) + before.indexOf('1.0') + 2
}

/** Finds the reference as the gateway does by default. */
export function refOf(project: string): string {
  for (const name of ['ref', 'reference', 'id', 'uuid', 'slug']) {
    const text = memberText(project, name)
    if (text !== null && /^["\d-]/.test(text)) return String(JSON.parse(text))
  }
  return ''
}
