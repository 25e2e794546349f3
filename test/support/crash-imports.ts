// Makes the files that crash rounds import, version after version, and checks what the gateway answers while an import
// is running.
import { type Client, type ClientAnswer, requireSession } from './client.ts'
import { documentLine } from './workspaces.ts'

const EMAILS = ['crash-a@example.com', 'crash-b@example.com', 'crash-c@example.com'] as const
const LISTS = [
  { kind: 'project', path: '/projects', replaced: 500 },
  { kind: 'template', path: '/templates', replaced: 250 },
  { kind: 'uiLibrary', path: '/ui-libraries', replaced: 250 },
] as const
/** Each of the first versions adds one document to each list; later versions replace these documents in turn. */
const ADDED = 40
const ADDED_ID = 'added-'
/** One export is a single line; the elements of the other have lines of their own, scattered over the file. */
const EXPORTS = [
  { ref: 'whole', elements: 5 },
  { ref: 'split', elements: 60 },
] as const
const EXPORTS_COMPARED = 3

type List = (typeof LISTS)[number]

/**
 * Every import up to `acknowledged` ended with exit code 0; imports after it, up to `started`, may have taken effect or
 * not.
 */
export interface Versions {
  readonly acknowledged: number
  readonly started: number
}

export interface Observed {
  readonly problems: readonly string[]
  /** The versions of the documents that were found. */
  readonly versions: ReadonlySet<number>
}

/**
 * One version as NDJSON: replaces every document, adds one to each list, and adds a newer export of each project that
 * has exports.
 */
export function importFile(version: number): string {
  const documents = EMAILS.flatMap((email) =>
    LISTS.flatMap((list) => idsWrittenBy(list, version).map((id) => documentLine(list.kind, email, text(id, version)))),
  )
  const elements = EXPORTS[1].elements
  const every = Math.floor(documents.length / (elements + 1))
  const lines: string[] = EMAILS.flatMap((email) => [
    `${exportStart(email, 'whole', version)},"data":${exportBody(email, 'whole', version)}}\n`,
    `${exportStart(email, 'split', version)},"id":"${email} ${version}"}\n`,
  ])
  documents.forEach((line, index) => {
    lines.push(line)
    const element = index / every
    if (!Number.isInteger(element) || element >= elements) return
    for (const email of EMAILS) {
      lines.push(
        `{"kind":"exportElement","export":"${email} ${version}","data":${elementText(email, 'split', version, element)}}\n`,
      )
    }
  })
  return lines.join('')
}

/** Reads everything of every user and compares it, byte for byte, with what these versions allow. */
export async function observe(client: Client, versions: Versions): Promise<Observed> {
  const problems: string[] = []
  const found = new Set<number>()
  for (const email of EMAILS) {
    const { accessToken, refreshToken } = await requireSession(client, email)
    const lists = await Promise.all(LISTS.map(({ path }) => client.get(path, accessToken)))
    lists.forEach((answer, index) => {
      const list = LISTS[index]
      const problem = list && listProblem(list, answer, versions, found)
      if (problem) problems.push(`${list.path} of ${email}: ${problem}`)
    })
    problems.push(...(await exportProblems(client, { email, accessToken }, versions)))
    await client.logout(refreshToken)
  }
  return { problems, versions: found }
}

/**
 * Reads only the newest export of one project, which is cheap enough to repeat all the time. With `mayFail`, answers
 * other than 200 are allowed.
 */
export async function observeExport(
  client: Client,
  accessToken: string,
  { user, ref, mayFail = false }: { readonly user: number; readonly ref: number; readonly mayFail?: boolean },
  versions: () => Versions,
): Promise<string | null> {
  const name = (EXPORTS[ref % EXPORTS.length] ?? EXPORTS[0]).ref
  const { acknowledged } = versions()
  const answer = await client.get(`/exports?r=${name}`, accessToken)
  if (mayFail && answer.status !== 200) return null
  return newestExportProblem(emailOf(user), name, answer, { acknowledged, started: versions().started })
}

/** Whether the import of `version` has begun: a document that it writes early has this version or a later one. */
export async function hasBegun(client: Client, accessToken: string, version: number): Promise<boolean> {
  const answer = await client.graphql('{ me { project(ref: "replaced-1") { data } } }', accessToken)
  return Number(/"version":(\d+)/.exec(answer.text)?.[1] ?? 0) >= version
}

export function emailOf(user: number): string {
  return EMAILS[user % EMAILS.length] ?? EMAILS[0]
}

async function exportProblems(
  client: Client,
  { email, accessToken }: { readonly email: string; readonly accessToken: string },
  versions: Versions,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const { ref } of EXPORTS) {
    const newest = newestExportProblem(email, ref, await client.get(`/exports?r=${ref}`, accessToken), versions)
    if (newest) problems.push(newest)
    const query = `{ me { project(ref: "${ref}") { exports(first: ${EXPORTS_COMPARED}) { data } } } }`
    const history = await client.graphql(query, accessToken)
    const allowed = range(versions.acknowledged, versions.started).map((newestVersion) => {
      const shown = range(1, newestVersion).toReversed().slice(0, EXPORTS_COMPARED)
      const exports = shown.map((version) => `{"data":${exportBody(email, ref, version)}}`)
      return `{"data":{"me":{"project":{"exports":[${exports.join(',')}]}}}}`
    })
    if (!allowed.includes(history.text)) {
      problems.push(`history of ${ref} of ${email}: ${history.status} ${excerpt(history.text)}`)
    }
  }
  return problems
}

function newestExportProblem(email: string, ref: string, answer: ClientAnswer, versions: Versions): string | null {
  const allowed = range(versions.acknowledged, versions.started)
  if (answer.status === 200 && allowed.some((version) => answer.text === exportBody(email, ref, version))) return null
  return `/exports?r=${ref} of ${email} is none of versions ${allowed.join(', ')}: ${answer.status} ${excerpt(answer.text)}`
}

/** Walks the body in stored order: every acknowledged document must be there, in one of the allowed versions. */
function listProblem(
  list: List,
  { status, text: body }: ClientAnswer,
  versions: Versions,
  found: Set<number>,
): string | null {
  if (status !== 200) return `${status} ${excerpt(body)}`
  let rest = `,${body.slice(1, -1)}`
  for (const id of idsOf(list, versions.started)) {
    const { isCertain, allowed } = allowedVersions(id, versions)
    const version = allowed.find((candidate) => rest.startsWith(`,${text(id, candidate)}`))
    if (version !== undefined) {
      found.add(version)
      rest = rest.slice(text(id, version).length + 1)
    } else if (isCertain) {
      return `${id} is in none of versions ${allowed.join(', ')} here: ${excerpt(rest)}`
    }
  }
  return rest === '' || rest === ',' ? null : `more than was imported: ${excerpt(rest)}`
}

function allowedVersions(id: string, { acknowledged, started }: Versions) {
  const last = range(1, acknowledged).findLast((version) => isWrittenBy(id, version))
  const later = range(acknowledged + 1, started).filter((version) => isWrittenBy(id, version))
  return { isCertain: last !== undefined, allowed: last === undefined ? later : [last, ...later] }
}

function idsWrittenBy(list: List, version: number): readonly string[] {
  return [...replacedIds(list), addedId(version)]
}

function isWrittenBy(id: string, version: number): boolean {
  return id === addedId(version) || !id.startsWith(ADDED_ID)
}

/** In stored order. */
function idsOf(list: List, upTo: number): readonly string[] {
  return [...replacedIds(list), ...range(1, Math.min(upTo, ADDED)).map(addedId)]
}

function addedId(version: number): string {
  return `${ADDED_ID}${((version - 1) % ADDED) + 1}`
}

const REPLACED_IDS = new Map<List, readonly string[]>(
  LISTS.map((list) => [
    list,
    [...EXPORTS.map(({ ref }): string => ref), ...range(1, list.replaced).map((n) => `replaced-${n}`)],
  ]),
)

function replacedIds(list: List): readonly string[] {
  return REPLACED_IDS.get(list) ?? []
}

/** No JSON parser and printer would reproduce this text as it is. */
function text(id: string, version: number): string {
  return `{"version":${version}.0, "id":"${id}","b":1e2,"a":"\\u00e9é","large":90071992547409931,"a":"${'x'.repeat(200)}"}`
}

function elementText(email: string, ref: string, version: number, element: number): string {
  return `{"path":"${element}.html","of":"${email} ${ref}","version":${version}.0,"text":"${'é'.repeat(60)}"}`
}

function exportBody(email: string, ref: string, version: number): string {
  const count = EXPORTS.find((candidate) => candidate.ref === ref)?.elements ?? 0
  return `[${Array.from({ length: count }, (_, element) => elementText(email, ref, version, element)).join(',')}]`
}

function exportStart(email: string, ref: string, version: number): string {
  const createdAt = new Date(Date.UTC(2026, 0, 1) + version * 1_000).toISOString()
  return `{"kind":"export","email":"${email}","r":"${ref}","createdAt":"${createdAt}"`
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

function excerpt(body: string): string {
  return body.length > 200 ? `${body.slice(0, 200)}…` : body
}
