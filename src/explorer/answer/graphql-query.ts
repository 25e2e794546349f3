// One GraphQL read, for pages that show what it answers.
import { beside } from '../beside/beside.ts'
import type { Session } from '../sign-in/session/session.ts'
import { readAnswer } from './reading.ts'

/** `data`, or an error with the message of the first failure. */
export async function query<T>(session: Session, text: string, variables: object = {}): Promise<T> {
  return dataOf(await ask(session, text, variables)) as T
}

/** The whole response, as text: stored documents in it keep their bytes. A long one is read beside the page. */
export async function queryText(session: Session, text: string, variables: object = {}): Promise<string> {
  const body = await ask(session, text, variables)
  const { isJson, hasErrors } = await beside('readAnswer', readAnswer, body)
  if (!isJson || hasErrors) dataOf(body)
  return body
}

async function ask(session: Session, text: string, variables: object): Promise<string> {
  const answer = await session.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  })
  return answer.text()
}

/** Throws what the response says has failed. */
function dataOf(body: string): unknown {
  const { data, errors } = JSON.parse(body) as {
    readonly data?: unknown
    readonly errors?: readonly { readonly message: string }[]
  }
  if (errors?.[0]) throw new Error(errors[0].message)
  return data
}
