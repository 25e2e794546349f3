// A user's session at another server of the contract: signs in on first use and renews expired tokens.
import { hasMoreValues } from '../../json-text.ts'
import { memberOf } from '../../member-of.ts'
import { MAX_ELEMENTS } from '../../store/reads-contract.ts'
import { MAX_VALUES } from '../format/envelope.ts'
import { isSuccess, type RemoteAnswer } from './answer.ts'
import { arrayElements, ElementSizeError } from './array-elements.ts'
import { ContractError, type RemoteClient } from './client.ts'
import { statusInWords } from './redirect.ts'
import { isSessionRefused, isTokenRefused } from './retry.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
const EMPTY_ARRAY = Buffer.from('[]')
/** Maximum length of a body that may be `null` with white space and a byte order mark. */
const MAX_NULL_BYTES = 64

export interface RemoteArray {
  /**
   * JSON texts, each on one line, parsed from the bytes on each call. Throws `ContractError` for anything but a JSON
   * array.
   */
  readonly elements: () => readonly string[]
  /** The whole response body as received; an empty array if that is `null`. */
  readonly bytes: Uint8Array
  /** Milliseconds since the epoch. */
  readonly lastModified: number | null
  /** The entity tag as received. */
  readonly etag: string | null
}

/** Reads throw `ContractError` for every response outside of the contract. */
export interface RemoteSession {
  /** Null for 404; `unchanged` for a 304 to this entity tag. */
  readonly read: (path: string, etag?: string | null) => Promise<RemoteArray | 'unchanged' | null>
  /** Signs out. A session that cannot be ended expires by itself, and the client counts it. */
  readonly close: () => Promise<void>
}

/** `login` is the email as the other server knows it. */
export function createRemoteSession(client: RemoteClient, login: string): RemoteSession {
  let accessToken: string | null = null
  let refreshToken: string | null = null

  /** `hasToken`: whether the answer has an access token. */
  async function tokensFrom(
    path: string,
    body: object,
  ): Promise<{ readonly answer: RemoteAnswer; readonly hasToken: boolean }> {
    const answer = await client.send({ method: 'POST', path, body, opensSession: true })
    const tokens = isSuccess(answer) ? parseJson(answer.body) : null
    const [access, refresh] = [memberOf(tokens, 'accessToken'), memberOf(tokens, 'refreshToken')]
    if (isHeaderToken(access)) accessToken = access
    if (typeof refresh === 'string') refreshToken = refresh
    return { answer, hasToken: isHeaderToken(access) }
  }

  async function signIn(): Promise<void> {
    const { answer, hasToken } = await tokensFrom('/login', { email: login })
    if (hasToken) return
    const found = isSuccess(answer) ? 'answered no accessToken' : statusInWords(answer, client.address, '/login')
    throw new ContractError(`POST ${client.address}/login ${found}`)
  }

  async function isRenewed(): Promise<boolean> {
    return refreshToken !== null && (await tokensFrom('/token', { refreshToken })).hasToken
  }

  /**
   * Signs out first: the previous session may still be open although its tokens are refused, or although its login
   * answered no access token.
   */
  async function signInAgain(): Promise<void> {
    await close()
    await signIn()
  }

  async function close(): Promise<void> {
    if (refreshToken === null) return
    await client.endSession(refreshToken)
    refreshToken = null
  }

  async function get(path: string, etag: string | null): Promise<RemoteAnswer> {
    const ask = () =>
      client.send({
        method: 'GET',
        path,
        headers: { authorization: `Bearer ${accessToken}`, ...(etag === null ? {} : { 'if-none-match': etag }) },
      })
    if (accessToken === null) await signInAgain()
    const answer = await ask()
    if (!isTokenRefused(answer.status)) return answer
    const renewed = (await isRenewed()) ? await ask() : null
    if (renewed && !isSessionRefused(renewed.status)) return renewed
    await signInAgain()
    return ask()
  }

  return {
    async read(path, etag = null) {
      const answer = await get(path, etag)
      const { status, headers, body } = answer
      if (status === 404) return null
      if (status === 304 && etag !== null) return 'unchanged'
      // The path may name a project in its query, so only the path before it is shown.
      const shown = `GET ${client.address}${path.split('?')[0]}`
      if (status !== 200) throw new ContractError(`${shown} ${statusInWords(answer, client.address, path)}`)
      const lastModified = Date.parse(headers.get('last-modified') ?? '')
      const bytes = isNull(body) ? EMPTY_ARRAY : body
      return {
        elements() {
          const elements = elementsOf(bytes, shown)
          if (elements.length <= MAX_ELEMENTS) return elements
          throw new ContractError(`${shown} answered more than ${MAX_ELEMENTS} elements`)
        },
        bytes,
        lastModified: Number.isNaN(lastModified) ? null : lastModified,
        etag: headers.get('etag'),
      }
    },
    close,
  }
}

/** Whether it is a token that a header field can hold (RFC 6750 section 2.1 allows less). */
export function isHeaderToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    const text = utf8.decode(bytes)
    return hasMoreValues(text, MAX_VALUES) ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** Servers in Go answer `null` for an empty list: so their library writes a slice to which nothing was added. */
function isNull(body: Uint8Array): boolean {
  return body.byteLength <= MAX_NULL_BYTES && Buffer.from(body).toString().trim() === 'null'
}

/** `shown` names the call. */
function elementsOf(bytes: Uint8Array, shown: string): readonly string[] {
  try {
    return arrayElements(utf8.decode(bytes), MAX_ELEMENTS)
  } catch (error) {
    if (!(error instanceof ElementSizeError)) throw new ContractError(`${shown} did not answer a JSON array`)
    throw new ContractError(`${shown} answered an element with more than ${MAX_VALUES} values`)
  }
}
