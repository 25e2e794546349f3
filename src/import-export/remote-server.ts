// A client of any server of the REST contract: what one user has there, as import lines with the bytes they came in.
import { canonicalEmail } from '../auth/email.ts'
import { elementTexts } from '../json-text.ts'
import type { DocumentKind } from '../store/contract.ts'
import { createRecordReader, type RecordFields } from './format/record.ts'
import { documentLine, exportLine } from './format/record-lines.ts'
import { toSortableUtc } from './format/timestamp.ts'

/** A whole answer must arrive in this time. */
const TIMEOUT_MS = 120_000

const utf8 = new TextDecoder('utf-8', { fatal: true })

const READS: readonly (readonly [path: string, kind: DocumentKind])[] = [
  ['/projects', 'project'],
  ['/templates', 'template'],
  ['/ui-libraries', 'uiLibrary'],
]

/** The other server did not answer as the contract says; the message names the call, never a token. */
export class ContractError extends Error {
  override readonly name = 'ContractError'
}

export interface FetchedExport {
  readonly email: string
  readonly ref: string
  /** JSON texts. */
  readonly elements: readonly string[]
}

export interface ContractClientOptions {
  readonly fields: RecordFields
  readonly clock: () => number
  /** Exports that are stored already are left out: the contract does not tell when they were made. */
  readonly isKnown: (found: FetchedExport) => Promise<boolean>
}

/** Lines with their line ends. Throws `ContractError`. Signs out at the end, whatever happened. */
export async function* fetchWorkspace(
  baseUrl: string,
  input: string,
  options: ContractClientOptions,
): AsyncGenerator<string> {
  const email = canonicalEmail(input)
  if (email === null) throw new ContractError('--email holds something that is not an email address')
  const session = await openSession(baseUrl, email)
  try {
    for (const [path, kind] of READS) {
      for (const text of await session.read(path)) {
        const line = documentLine(kind, email, text)
        yield line
        if (kind === 'project') yield* newestExport(email, line, session, options)
      }
    }
  } finally {
    await session.close()
  }
}

async function* newestExport(
  email: string,
  projectLine: string,
  session: ContractSession,
  { fields, clock, isKnown }: ContractClientOptions,
): AsyncGenerator<string> {
  const project = createRecordReader(fields)(projectLine)
  if (project.kind !== 'project' || project.ref === null) return
  const { ref } = project
  const found = await session.readIfAny(`/exports?r=${encodeURIComponent(ref)}`)
  if (!found || (await isKnown({ email, ref, elements: found.elements }))) return
  const createdAt = new Date(found.lastModified ?? clock()).toISOString()
  if (toSortableUtc(createdAt) !== null) yield exportLine(email, { ref, createdAt }, found.elements)
}

interface FetchedArray {
  readonly elements: readonly string[]
  /** Milliseconds since the epoch. */
  readonly lastModified: number | null
}

interface ContractSession {
  readonly read: (path: string) => Promise<readonly string[]>
  /** Null for 404. */
  readonly readIfAny: (path: string) => Promise<FetchedArray | null>
  readonly close: () => Promise<void>
}

async function openSession(baseUrl: string, email: string): Promise<ContractSession> {
  const base = withoutTrailingSlashes(baseUrl)
  let tokens = await tokensFrom('/login', { email })
  const { refreshToken } = tokens

  async function call(method: string, path: string, body: object | null): Promise<Response> {
    const headers = body ? { 'content-type': 'application/json' } : { authorization: `Bearer ${tokens.accessToken}` }
    try {
      return await fetch(`${base}${path}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
    } catch (error) {
      throw new ContractError(`${method} ${base}${path}: no answer`, { cause: error })
    }
  }

  async function tokensFrom(path: string, body: object): Promise<{ accessToken: string; refreshToken?: string }> {
    const response = await call('POST', path, body)
    if (!response.ok) throw new ContractError(`POST ${base}${path} answered ${response.status}`)
    const answer: unknown = await response.json().catch(() => null)
    const accessToken: unknown = Reflect.get(Object(answer), 'accessToken')
    const refreshed: unknown = Reflect.get(Object(answer), 'refreshToken')
    if (typeof accessToken !== 'string') throw new ContractError(`POST ${base}${path} answered no accessToken`)
    return { accessToken, ...(typeof refreshed === 'string' ? { refreshToken: refreshed } : {}) }
  }

  async function get(path: string): Promise<Response> {
    const response = await call('GET', path, null)
    if (response.status !== 401 || refreshToken === undefined) return response
    // A long move outlives its first access token.
    tokens = await tokensFrom('/token', { refreshToken })
    return call('GET', path, null)
  }

  async function readIfAny(path: string): Promise<FetchedArray | null> {
    const response = await get(path)
    if (response.status === 404) return null
    if (!response.ok) throw new ContractError(`GET ${base}${path} answered ${response.status}`)
    const elements = arrayElements(await response.arrayBuffer())
    if (!elements) throw new ContractError(`GET ${base}${path} did not answer a JSON array`)
    const lastModified = Date.parse(response.headers.get('last-modified') ?? '')
    return { elements, lastModified: Number.isNaN(lastModified) ? null : lastModified }
  }

  return {
    readIfAny,
    async read(path) {
      const found = await readIfAny(path)
      if (!found)
        throw new ContractError(`GET ${base}${path} answered 404: this server has no workspace for that email`)
      return found.elements
    },
    async close() {
      if (refreshToken !== undefined) await call('DELETE', '/logout', { refreshToken }).catch(() => {})
    },
  }
}

function arrayElements(bytes: ArrayBuffer): readonly string[] | null {
  try {
    const text = utf8.decode(bytes)
    JSON.parse(text)
    // A line end is white space in JSON and the end of a record in NDJSON.
    return elementTexts(text)?.map(toOneLine) ?? null
  } catch {
    return null
  }
}

/** The same JSON without line ends between its tokens; within strings JSON has none. */
function toOneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ')
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}
