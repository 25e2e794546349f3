// One GraphQL read, for pages that show what it answers.
import type { Session } from '../sign-in/session.ts'

/** `data`, or an error with the message of the first failure. */
export async function query<T>(session: Session, text: string, variables: object = {}): Promise<T> {
  return (await ask(session, text, variables)).data as T
}

/** The whole response, as text: stored documents in it keep their bytes. */
export async function queryText(session: Session, text: string, variables: object = {}): Promise<string> {
  return (await ask(session, text, variables)).body
}

async function ask(session: Session, text: string, variables: object): Promise<{ body: string; data: unknown }> {
  const answer = await session.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  })
  const body = await answer.text()
  const { data, errors } = JSON.parse(body) as {
    readonly data?: unknown
    readonly errors?: readonly { readonly message: string }[]
  }
  if (errors?.[0]) throw new Error(errors[0].message)
  return { body, data }
}
