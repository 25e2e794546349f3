// Sends one GraphQL request for the pages that show its result.
import { offload } from '../beside/beside.ts'
import type { Session } from '../sign-in/session/session.ts'
import { readAnswer } from './reading.ts'

/** Readable replacements for messages that are written for programs, by error code. */
const SENTENCES: Readonly<Record<string, string>> = {
  RESPONSE_TOO_LARGE: 'This is too large to be shown. A program can read it: over REST, or in parts over GraphQL.',
}

/** Resolves to `data`. Throws an Error with the message of the first GraphQL error. */
export async function query<T>(session: Session, text: string, variables: object = {}): Promise<T> {
  const answer = await ask(session, text, variables)
  return dataOf(await answer.text(), answer) as T
}

/**
 * Resolves to the whole response as text, so that stored documents in it keep their bytes. Throws like `query`. A long
 * response is parsed in a worker.
 */
export async function queryText(session: Session, text: string, variables: object): Promise<string> {
  const answer = await ask(session, text, variables)
  const body = await answer.text()
  const { isJson, hasErrors } = await offload('readAnswer', readAnswer, body)
  if (!isJson || hasErrors || !answer.ok) dataOf(body, answer)
  return body
}

function ask(session: Session, text: string, variables: object): Promise<Response> {
  return session.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  })
}

/** Returns `data`, or throws an Error with the message of the first GraphQL error. */
function dataOf(body: string, { status }: Response): unknown {
  const { data, errors } = (JSON.parse(body) ?? {}) as {
    readonly data?: unknown
    readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[]
  }
  if (errors?.[0]) throw new Error(SENTENCES[errors[0].extensions?.code ?? ''] ?? errors[0].message)
  // JSON that is no GraphQL answer, such as the error of a proxy.
  if (data === undefined) throw new Error(`The gateway answered ${status}.`)
  return data
}
