// GraphQL over HTTP: the official audits, the twins of the REST routes, pages, shared reads and errors.
import { serverAudits } from 'graphql-http'
import { describe, expect, test } from 'vitest'
import { READ_ROUTES, SESSION_ROUTES, type SessionRoute } from '../src/rest/routes.ts'
import type { Store } from '../src/store/contract.ts'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { sendTogether } from './support/statements.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

async function signedIn(): Promise<{ gateway: TestGateway; accessToken: string; refreshToken: string }> {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  return { gateway, ...(await gateway.login(ANA)) }
}

describe('the official GraphQL over HTTP audits', () => {
  const names = serverAudits({ url: '' }).map(({ name }) => name)

  test('are more than fifty', () => {
    expect(names.length).toBeGreaterThan(50)
  })

  test.each(names)('%s', async (name) => {
    const gateway = await startGateway()
    const audit = serverAudits({ url: `${gateway.url}/graphql`, fetchFn: fetch }).find((one) => one.name === name)
    const result = await audit?.fn()
    expect(result?.status, JSON.stringify(result)).toBe('ok')
  })
})

describe('REST and GraphQL cannot drift', () => {
  const MORE = ['template', 'uiLibrary'] as const

  test.each(READ_ROUTES)('GET $path answers what its twin answers', async ({ path, twin }) => {
    const { gateway, accessToken } = await signedIn()
    // Two in each list, so that a list has an order.
    await gateway.load(MORE.map((kind) => documentLine(kind, ANA, '{"id":"a", "n":1.0}')).join(''))
    const rest = await gateway.get(path === '/exports' ? '/exports?r=site' : path, accessToken)
    const graphql = await gateway.graphql(twin, { accessToken, variables: { r: 'site' } })
    expect([rest.status, graphql.status]).toEqual([200, 200])
    const [field = ''] = Object.keys(graphql.json().data.me)
    const texts = rest.text.slice(1, -1).split(/(?<=\}),(?=\{)/)
    const data =
      path === '/exports' ? `{"data":${rest.text}}` : `[${texts.map((text) => `{"data":${text}}`).join(',')}]`
    expect(graphql.text).toBe(`{"data":{"me":{"${field}":${data}}}}`)
    expect(rest.json()).toHaveLength(2)
  })

  test('the session routes and their twins open, renew and end the same sessions', async () => {
    const { gateway } = await signedIn()
    const [login, token, ...logouts] = SESSION_ROUTES
    if (!login || !token) throw new Error('no routes')
    /** Each returns what was answered, or the code of the failure. */
    const ways = {
      async route({ method, path }: SessionRoute, fields: object) {
        const { status, json } = await gateway.send(method, path, JSON.stringify(fields))
        return status === 200 ? json() : json().code
      },
      async twin({ twin }: SessionRoute, variables: object) {
        const { data, errors } = (await gateway.graphql(twin, { variables })).json()
        return errors ? errors[0].extensions.code : Object.values(data)[0]
      },
    }
    const both = Object.values(ways)
    const read = async (accessToken: string) => (await gateway.get('/projects', accessToken)).status
    const isOpened = { accessToken: expect.any(String), refreshToken: expect.stringMatching(/^wgr_/) }
    for (const open of both) {
      for (const [end, ended] of [
        [ways.route, {}],
        [ways.twin, true],
      ] as const) {
        for (const logout of logouts) {
          const opened = await open(login, { email: ANA })
          expect(opened).toEqual(isOpened)
          const renewed = [await ways.route(token, opened), await ways.twin(token, opened)]
          expect(renewed.map(Object.keys)).toEqual([['accessToken'], ['accessToken']])
          const accessTokens = [opened, ...renewed].map(({ accessToken }) => accessToken)
          expect(await Promise.all(accessTokens.map(read))).toEqual([200, 200, 200])
          expect(await end(logout, opened)).toEqual(ended)
          expect(await Promise.all(accessTokens.map(read))).toEqual([401, 401, 401])
          for (const way of both) {
            for (const route of [token, ...logouts]) expect(await way(route, opened)).toBe('INVALID_TOKEN')
          }
        }
      }
    }
  })

  test('every route of the contract is a row', () => {
    const rows = [...SESSION_ROUTES, ...READ_ROUTES].map(({ method, path }) => `${method} ${path}`)
    expect(rows.toSorted()).toEqual([
      'DELETE /logout',
      'GET /exports',
      'GET /projects',
      'GET /templates',
      'GET /ui-libraries',
      'POST /login',
      'POST /logout',
      'POST /token',
    ])
  })
})

test('me is null for a signed-in user without a workspace, and an error without a token', async () => {
  const gateway = await startGateway()
  const { accessToken } = await gateway.login('nobody@example.com')
  expect((await gateway.graphql('{ me { email } }', { accessToken })).json()).toEqual({ data: { me: null } })
  const stranger = await gateway.graphql('{ me { email } }')
  expect(stranger.status).toBe(200)
  expect(stranger.json()).toMatchObject({ data: { me: null }, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] })
})

test('a bad token is refused and never treated as a guest; the session mutations ignore it', async () => {
  const { gateway, refreshToken } = await signedIn()
  const refused = await gateway.graphql('{ __typename }', { accessToken: 'bad' })
  expect([refused.status, refused.json().errors[0].extensions.code]).toEqual([401, 'INVALID_TOKEN'])
  expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="workspace-gateway", error="invalid_token"')
  const renewed = await gateway.graphql('mutation($t: String!) { refresh(refreshToken: $t) { accessToken } }', {
    accessToken: 'bad',
    variables: { t: refreshToken },
  })
  expect(renewed.status).toBe(200)
})

test('typed fields are null when the document lacks them or holds another type', async () => {
  const gateway = await startGateway()
  await gateway.load(
    documentLine('project', ANA, '{"uuid":"u","name":5,"tags":["a",1],"description":null,"framework":{}}') +
      documentLine('project', ANA, '{"id":123456789012345678901234567890,"ref":7,"tags":[],"name":"é"}') +
      documentLine('project', ANA, '{"id":1.5,"slug":"s"}'),
  )
  const { accessToken } = await gateway.login(ANA)
  const answer = await gateway.graphql(
    '{ me { projects { documentId ref name tags description framework version } } }',
    {
      accessToken,
    },
  )
  const none = { description: null, framework: null, version: null }
  expect(answer.json().data.me.projects).toEqual([
    { documentId: null, ref: 'u', name: null, tags: null, ...none },
    { documentId: '123456789012345678901234567890', ref: '7', name: 'é', tags: [], ...none },
    { documentId: null, ref: 's', name: null, tags: null, ...none },
  ])
})

test('elements of an export may be any JSON', async () => {
  const gateway = await startGateway()
  await gateway.load(
    documentLine('project', ANA, '{"id":"p"}') +
      exportLine(ANA, {
        r: 'p',
        createdAt: '2026-01-01T00:00:00Z',
        elements: ['1.0', 'null', '"x"', '[1]', '{"path":"a"}'],
      }),
  )
  const { accessToken } = await gateway.login(ANA)
  const answer = await gateway.graphql('{ me { latestExport(ref: "p") { elements { path data } } } }', { accessToken })
  expect(answer.text).toContain(
    '[{"path":null,"data":1.0},{"path":null,"data":null},{"path":null,"data":"x"},{"path":null,"data":[1]},{"path":"a","data":{"path":"a"}}]',
  )
})

describe('paging', () => {
  const names = Array.from({ length: 7 }, (_, index) => `p${index}`)

  async function sevenProjects() {
    const gateway = await startGateway()
    await gateway.load(
      names
        .map(
          (name, index) =>
            documentLine('project', ANA, `{"id":"${name}"}`) +
            exportLine(ANA, {
              r: 'p0',
              createdAt: `2026-01-0${index + 1}T00:00:00Z`,
              elements: names.map((element) => `"${element}"`),
            }),
        )
        .join(''),
    )
    const { accessToken } = await gateway.login(ANA)
    return (query: string) => gateway.graphql(query, { accessToken }).then((answer) => answer.json())
  }

  test('walks a connection from end to end, whatever the page size', async () => {
    const ask = await sevenProjects()
    const lists = [
      ['projectsConnection', '', 'documentId', names],
      [
        'project(ref: "p0") { list: exportsConnection',
        '}',
        'createdAt',
        names.map((_, i) => `2026-01-0${7 - i}T00:00:00Z`),
      ],
      ['latestExport(ref: "p0") { list: elementsConnection', '}', 'data', names],
    ] as const
    for (const [open, close, field, expected] of lists) {
      for (const size of [1, 2, 3, 7, 8]) {
        const seen: unknown[] = []
        for (let after = 'null'; ; ) {
          const { data, errors } = await ask(
            `{ me { ${open}(first: ${size}, after: ${after}) { totalCount nodes { ${field} } edges { cursor node { ${field} cursor } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } ${close} } }`,
          )
          expect(errors).toBeUndefined()
          const [value] = Object.values(data.me) as [Record<string, Record<string, unknown>>]
          const page = (value.list ?? value) as unknown as Page
          expect(page.totalCount).toBe(7)
          expect(page.edges.map(({ node }) => node[field])).toEqual(page.nodes.map((node) => node[field]))
          for (const { cursor, node } of page.edges) expect(node.cursor).toBe(cursor)
          expect(page.pageInfo.startCursor).toBe(page.edges[0]?.cursor)
          expect(page.pageInfo.hasPreviousPage).toBe(after !== 'null')
          seen.push(...page.nodes.map((node) => node[field]))
          if (!page.pageInfo.hasNextPage) break
          after = JSON.stringify(page.pageInfo.endCursor)
        }
        expect(seen).toEqual(expected)
      }
    }
  })

  test('works on plain lists with the cursor of their items', async () => {
    const ask = await sevenProjects()
    const first = (await ask('{ me { projects(first: 3) { documentId cursor } } }')).data.me.projects
    const rest = (await ask(`{ me { projects(after: "${first[2].cursor}") { documentId } } }`)).data.me.projects
    expect([...first, ...rest].map(({ documentId }) => documentId)).toEqual(names)
    expect(
      (
        await ask(
          '{ me { projects(first: 0) { id } templatesConnection { totalCount nodes { id } pageInfo { hasNextPage endCursor } } } }',
        )
      ).data.me,
    ).toEqual({
      projects: [],
      templatesConnection: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
    })
  })
})

interface Page {
  readonly totalCount: number
  readonly nodes: readonly Record<string, unknown>[]
  readonly edges: readonly { readonly cursor: string; readonly node: Record<string, unknown> }[]
  readonly pageInfo: Record<'hasNextPage' | 'hasPreviousPage', boolean> &
    Record<'startCursor' | 'endCursor', string | null>
}

test('a page of projects with their latest exports needs two reads of the store', async () => {
  const calls: string[] = []
  const gateway = await startGateway({ wrapStore: (store) => counting(store, calls) })
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  calls.length = 0
  const answer = await gateway.graphql('{ me { projects { ref latestExport { digest } } } }', { accessToken })
  expect(answer.json().data.me.projects).toHaveLength(2)
  expect(calls).toEqual(['liveSessions', 'documentsWithin', 'latestExports'])
})

test('each project gets its own newest export, by alias and through the list', async () => {
  const gateway = await startGateway()
  const refs = ['one', 'two', 'three']
  await gateway.load(
    refs
      .map(
        (ref) =>
          documentLine('project', ANA, `{"id":"${ref}"}`) +
          exportLine(ANA, { r: ref, createdAt: '2026-01-01T00:00:00Z', elements: [`"of ${ref}"`] }),
      )
      .join(''),
  )
  const { accessToken } = await gateway.login(ANA)
  const aliases = refs.map((ref) => `${ref}: latestExport(ref: "${ref}") { data }`).join(' ')
  const query = `{ me { ${aliases} projects { ref latestExport { data } } } }`
  const { projects, ...latest } = (await gateway.graphql(query, { accessToken })).json().data.me
  expect(latest).toEqual(Object.fromEntries(refs.map((ref) => [ref, { data: [`of ${ref}`] }])))
  expect(projects).toEqual(refs.map((ref) => ({ ref, latestExport: { data: [`of ${ref}`] } })))
})

test.each([
  ['/projects', ['documentsWithin']],
  ['/exports?r=site', ['latestExports', 'elementRunsOf']],
  ['{ me { project(ref: "site") { exports { ref } } } }', ['projectsByRef', 'exportsOf']],
  [
    '{ me { projectsConnection { totalCount } latestExport(ref: "site") { elements { path } } } }',
    ['documentCounts', 'latestExports', 'elementsWithin'],
  ],
])('requests of several users in one turn share their reads: %s', async (asked, reads) => {
  const path = asked.startsWith('/') ? asked : `/graphql?query=${encodeURIComponent(asked)}`
  const calls: string[] = []
  const gateway = await startGateway({ wrapStore: (store) => counting(store, calls) })
  // Of different users, because equal requests of one user share an answer anyway.
  const users = Array.from({ length: 8 }, (_, at) => `user${at}@example.com`)
  await gateway.load(
    users
      .map(
        (email) =>
          documentLine('project', email, `{"ref":"site","name":"Site of ${email}"}`) +
          exportLine(email, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: [`{"path":"${email}"}`] }),
      )
      .join(''),
  )
  const tokens = await Promise.all(users.map(async (email) => (await gateway.login(email)).accessToken))
  const alone = await Promise.all(tokens.map(async (token) => (await gateway.get(path, token)).text))
  // Nothing is answered from the cache after a change.
  await gateway.load(users.map((email) => documentLine('template', email, '{"id":"new"}')).join(''))
  calls.length = 0
  const bodies = await sendTogether(
    gateway,
    tokens.map((token) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`),
  )
  expect(bodies).toEqual(alone)
  expect(calls).toEqual(['liveSessions', ...reads])
})

test('an error about a variable says what is wrong, and quotes no value', async () => {
  const { gateway, accessToken } = await signedIn()
  const PAGE = 'query ($n: Int!) { me { projects(first: $n) { ref } } }'
  const NODES = 'query ($n: [ID!]!) { nodes(ids: $n) { id } }'
  const told = async (query: string, variables: object) => {
    const { errors } = (await gateway.graphql(query, { accessToken, variables })).json()
    return errors.map(({ message }: { message: string }) => message)
  }
  const missing = ['Variable "$n" of required type "Int!" was not provided.']
  expect(await told(PAGE, {})).toEqual(missing)
  expect(await told(PAGE, { other: 'hunter2' })).toEqual(missing)
  for (const [query, n, reason] of [
    [PAGE, 'hunter2', ': Int cannot represent non-integer value.'],
    [PAGE, 2_147_483_648, ': Int cannot represent non 32-bit signed integer value.'],
    [PAGE, null, ': Expected value of non-null type "Int!" not to be null.'],
    [NODES, ['a', null], ' at [1]: Expected value of non-null type "ID!" not to be null.'],
    [NODES, ['a', { hunter2: 1 }], ' at [1]: ID cannot represent value.'],
  ] as const) {
    expect(await told(query, { n })).toEqual([`Variable "$n" has invalid value${reason}`])
  }
})

test('an error about a variable that is null, and must not be, names the variable and its place', async () => {
  const { gateway, accessToken } = await signedIn()
  for (const [query, place, type] of [
    ['query ($n: ID = "a") { node(id: $n) { id } }', 'Argument "Query.node(id:)" has invalid value', 'ID!'],
    [
      'query ($n: ID = "a") { nodes(ids: ["a", $n]) { id } }',
      'Argument "Query.nodes(ids:)" has invalid value at [1]',
      'ID!',
    ],
    ['query ($n: Boolean = true) { __typename @skip(if: $n) }', 'Argument "@skip(if:)" has invalid value', 'Boolean!'],
  ] as const) {
    const { errors } = (await gateway.graphql(query, { accessToken, variables: { n: null } })).json()
    const message = `${place}: Expected variable "$n" provided to non-null type "${type}" not to be null.`
    expect(errors).toMatchObject([{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }])
  }
})

test('latestExport says why there is none, and project(ref) is null without an error', async () => {
  const { gateway, accessToken } = await signedIn()
  const answer = await gateway.graphql(
    '{ me { none: latestExport(ref: "app") { digest } nowhere: latestExport(ref: "secret") { digest } project(ref: "secret") { name } app: project(ref: "app") { latestExport { digest } } } }',
    { accessToken },
  )
  const { data, errors } = answer.json()
  expect(data.me).toEqual({ none: null, nowhere: null, project: null, app: { latestExport: null } })
  expect(errors.map((error: { path: string[]; extensions: object }) => [error.path[1], error.extensions])).toEqual([
    ['none', { code: 'NO_EXPORT' }],
    ['nowhere', { code: 'NO_PROJECT' }],
  ])
})

test('GraphiQL is served to browsers, and loads nothing from another origin', async () => {
  const gateway = await startGateway()
  const page = await gateway.get('/graphql', undefined, { accept: 'text/html,application/xhtml+xml' })
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.text).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//)
})

test('the cause of an internal error is only in the log', async () => {
  const secret = 'SQLITE_ERROR: no such table: /var/lib/secret'
  const gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      documentsWithin() {
        throw new Error(secret)
      },
    }),
  })
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const rest = await gateway.get('/projects', accessToken)
  const graphql = await gateway.graphql('{ me { projects { ref } } }', { accessToken })
  expect([rest.status, rest.json().code]).toEqual([500, 'INTERNAL'])
  expect(graphql.json().errors[0].extensions).toMatchObject({
    code: 'INTERNAL',
    instance: expect.stringMatching(/^urn:uuid:/),
  })
  for (const { text } of [rest, graphql]) expect(text).not.toMatch(/SQLITE|secret|stack|src\//)
  expect(gateway.reported.map(String)).toEqual([`Error: ${secret}`, `Error: ${secret}`])
})

/** Leaves out the reads of the signing keys: the gateway reads them again whenever a second has passed. */
function counting(store: Store, calls: string[]): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function' || typeof name !== 'string') return value
      return (...args: unknown[]) => {
        if (name !== 'signingKeys') calls.push(name)
        return value(...args)
      }
    },
  })
}
