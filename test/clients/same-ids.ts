// Starts a gateway with two workspaces whose documents all have the same ids, and gives clients access to it.
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, BEN, documentLine, exportLine } from '../support/workspaces.ts'

export const PAGED = ['p0', 'p1', 'p2', 'p3', 'p4']
export const ELEMENTS = ['same', 'a', 'b', 'c', 'd']

/** Each user has a project, a template and a library `same`, two exports with equal element ids, five more projects. */
const WORLD = [ANA, BEN]
  .flatMap((email) => [
    documentLine('project', email, `{"id":"same","ref":"same","name":"project of ${email}"}`),
    documentLine('template', email, `{"id":"same","name":"template of ${email}"}`),
    documentLine('uiLibrary', email, `{"id":"same","name":"library of ${email}"}`),
    ...['old', 'new'].map((age, index) =>
      exportLine(email, {
        r: 'same',
        createdAt: `2026-01-0${index + 1}T00:00:00Z`,
        elements: ELEMENTS.map((id) => `{"id":"${id}","content":"${age} ${id} of ${email}"}`),
      }),
    ),
    ...PAGED.map((id) => documentLine('project', email, `{"id":"${id}","ref":"${id}","name":"${id} of ${email}"}`)),
  ])
  .join('')

export interface ClientGateway {
  readonly endpoint: string
  /** From now on requests are sent as this user, as in a page that keeps its cache across sign-ins. */
  readonly signIn: (email: string) => Promise<void>
  /** Sends the token of the current user, and records the operation's name in `sent`. */
  readonly fetch: typeof fetch
  /** Names of the operations that reached the gateway. */
  readonly sent: string[]
}

export async function startForClients(): Promise<ClientGateway> {
  const gateway: TestGateway = await startGateway()
  await gateway.load(WORLD)
  let accessToken = ''
  const sent: string[] = []
  return {
    endpoint: `${gateway.url}/graphql`,
    sent,
    async signIn(email) {
      accessToken = (await gateway.login(email)).accessToken
    },
    fetch(input, init) {
      sent.push(String(JSON.parse(String(init?.body)).operationName))
      const headers = new Headers(init?.headers)
      headers.set('authorization', `Bearer ${accessToken}`)
      return fetch(input, { ...init, headers })
    },
  }
}

/** Selects what a screen with everything on it would show. */
export const EVERYTHING = /* GraphQL */ `
  query Everything {
    me {
      id
      email
      project(ref: "same") { id name exports { id createdAt elements { id documentId content } } }
      templates { id name }
      uiLibraries { id name }
    }
  }
`

export interface Everything {
  readonly me: {
    readonly id: string
    readonly email: string
    readonly project: {
      readonly id: string
      readonly name: string
      readonly exports: readonly {
        readonly id: string
        readonly elements: readonly { readonly id: string; readonly documentId: string; readonly content: string }[]
      }[]
    }
    readonly templates: readonly { readonly id: string; readonly name: string }[]
    readonly uiLibraries: readonly { readonly id: string; readonly name: string }[]
  }
}

/** The texts that this screen would show. */
export function shown({ me }: Everything): readonly string[] {
  return [
    me.email,
    me.project.name,
    ...me.templates.map(({ name }) => name),
    ...me.uiLibraries.map(({ name }) => name),
    ...me.project.exports.flatMap(({ elements }) => elements.map(({ content }) => content)),
  ]
}

export function rightFor(email: string): readonly string[] {
  return [
    email,
    ...['project', 'template', 'library'].map((kind) => `${kind} of ${email}`),
    ...['new', 'old'].flatMap((age) => ELEMENTS.map((id) => `${age} ${id} of ${email}`)),
  ]
}
