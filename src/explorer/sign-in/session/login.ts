// Sends the requests that open and end sessions, and turns their failures into readable errors.
import type { ExplorerData } from '../../../pages/explorer-config.ts'
import { jsonOrNull } from '../../text/json-lines.ts'
import type { Tokens } from './tokens.ts'

export class LoginFailure extends Error {
  /**
   * The `code` of the problem document, such as `LOGIN_CODE_SENT`; empty when the response was not a problem document.
   */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const NO_TOKEN = 'The answer has no access token: something else may have answered, such as a proxy.'

export interface Login {
  readonly post: (path: string, body: object, init?: RequestInit) => Promise<Response>
  readonly login: (email: string, code?: string) => Promise<Tokens>
  /** Opens a separate session for the current user, for trying out calls that end one. */
  readonly openAnother: () => Promise<Tokens>
}

/** Readable replacements for problem details that are written for programs, by problem code. */
const SENTENCES: Readonly<Record<string, string>> = {
  INVALID_EMAIL: 'This is not an email address.',
}

export function createLogin({ basePath }: ExplorerData, fetchFrom: typeof fetch, currentEmail: () => string): Login {
  function post(path: string, body: object, init: RequestInit = {}): Promise<Response> {
    return fetchFrom(`${basePath}${path}`, {
      method: 'POST',
      ...init,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  async function login(email: string, code?: string): Promise<Tokens> {
    const answer = await post('/login', code === undefined ? { email } : { email, code })
    if (answer.ok) return withToken<Tokens>(answer)
    throw await failureOf(answer)
  }

  return { post, login, openAnother: () => login(currentEmail()) }
}

/**
 * Whether the gateway wrote this answer, and not a proxy in front of it, which may answer 401 or a page with 200. Reads
 * the body.
 */
export async function isOwnAnswer(answer: Response): Promise<boolean> {
  if (!answer.ok) return (await failureOf(answer)).code !== ''
  return jsonOrNull(await answer.text()) !== null
}

/** The body of a successful answer to a sign-in or a renewal. Throws unless it has a token. */
export async function withToken<T extends Pick<Tokens, 'accessToken'>>(answer: Response): Promise<T> {
  const body: Partial<T> | null = await answer.json()
  if (typeof body?.accessToken === 'string') return body as T
  throw new LoginFailure('', NO_TOKEN)
}

/** Reads what the gateway says about a refused sign-in or renewal. */
export async function failureOf(answer: Response): Promise<LoginFailure> {
  const problem = (jsonOrNull(await answer.text()) ?? {}) as { readonly code?: string; readonly detail?: string }
  const { code = '', detail = `The gateway answered ${answer.status}.` } = problem
  return new LoginFailure(code, SENTENCES[code] ?? detail)
}
