// GraphQL requests that are valid JSON and still wrong: the document, the operation, its arguments, or how it is sent.
import { ANA, BEN } from '../support/workspaces.ts'
import { type BadRequest, graphqlBody, operation, type Scenario, type Scenarios, type World } from './scenario.ts'

const LOGIN = 'login(email: "dora@example.com") { accessToken }'
const DORA = ['dora@example.com']

const ask = (parameters: Readonly<Record<string, unknown>>) => graphqlBody(JSON.stringify(parameters))
const get = (parameters: Readonly<Record<string, string>>): BadRequest => ({
  method: 'GET',
  path: `/graphql?${new URLSearchParams(parameters)}`,
})

const REQUESTS: Readonly<Record<string, BadRequest>> = {
  'no query': ask({}),
  'no query by GET': { method: 'GET', path: '/graphql' },
  'a query that is null': ask({ query: null }),
  'a query that is a number': ask({ query: 8_675_309 }),
  'a query that is a list': ask({ query: ['{ __typename }'] }),
  'variables that are text': ask({ query: '{ __typename }', variables: ANA }),
  'variables that are a list': ask({ query: '{ __typename }', variables: [ANA] }),
  'variables by GET that are not JSON': get({ query: '{ __typename }', variables: `{${ANA}` }),
  'variables by GET that are text': get({ query: '{ __typename }', variables: JSON.stringify(ANA) }),
  'a name that is a number': ask({ query: 'query A { __typename }', operationName: 8_675_309 }),
  'extensions that are text': ask({ query: '{ __typename }', extensions: ANA }),
  'extensions by GET that are not JSON': get({ query: '{ __typename }', extensions: `{${ANA}` }),
  'nothing but a parameter that nobody knows': ask({ [ANA]: ANA }),
}

const BATCHES: Readonly<Record<string, BadRequest>> = {
  'a batch': graphqlBody(JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }])),
  'a batch of logins': graphqlBody(JSON.stringify([{ query: `mutation { ${LOGIN} }` }])),
  'an empty batch': graphqlBody('[]'),
}

const SYNTAX: Readonly<Record<string, string>> = {
  'an empty document': '',
  'a document of white space': ' \n ',
  'a document that is not closed': '{ me { email ',
  'a string that is not closed': `{ me { project(ref: "${ANA}) { ref } } }`,
  'a character that GraphQL does not have': '{ me ? { email } }',
  'JSON instead of a document': JSON.stringify({ me: ANA }),
  'text instead of a document': ANA,
  'more tokens than are read': `{ ${'a '.repeat(2_001)} }`,
  'an operation that selects nothing': '{ }',
  'an object of which nothing is selected': '{ me { email projects { } } }',
  'a fragment that selects nothing': '{ me { email ...A } } fragment A on User { }',
  'an inline fragment that selects nothing': '{ me { email ... { } } }',
  'a login whose tokens are not selected': `mutation { ${LOGIN.replace('accessToken', '')} }`,
  'fields nested deeper than are read': `{ ${'a{'.repeat(4_000)} }`,
}

const DOCUMENTS: Readonly<Record<string, string>> = {
  'no operation but a fragment': 'fragment A on User { email }',
  'no operation but a type': 'type Query { me: String }',
  'an unknown field': '{ me { password } }',
  'an unknown field named like an argument': `{ me { projects(filter: "${ANA}") { ref } } }`,
  'an object without a selection': '{ me }',
  'a selection of a scalar': '{ me { email { x } } }',
  'an argument of another type': `{ me { projects(first: "${ANA}") { ref } } }`,
  'a number that is not 32 bits': '{ me { projects(first: 8675309042) { ref } } }',
  'no argument where one is needed': '{ me { project { ref } } }',
  'a variable that is not declared': '{ me { project(ref: $ref) { ref } } }',
  'a variable of an unknown type': 'query ($ref: Reference!) { me { project(ref: $ref) { ref } } }',
  'a variable where another type is needed': 'query ($ref: Int) { me { project(ref: $ref) { ref } } }',
  'an unknown fragment': '{ me { ...Fields } }',
  'fragments in a circle': '{ me { ...A } } fragment A on User { email ...B } fragment B on User { email ...A }',
  'a circle of fragments with logins': `mutation { ...A } fragment A on Mutation { ...B } fragment B on Mutation { ...A ${LOGIN} }`,
  'an unknown directive': '{ me @cached { email } }',
  'a subscription': 'subscription { me { email } }',
  'two logins': `mutation { a: ${LOGIN} b: ${LOGIN} }`,
  'the same login twice': `mutation { ${LOGIN} ${LOGIN} }`,
  'a login and a logout': `mutation { ${LOGIN} logout(refreshToken: "x") }`,
  'a login and a refresh': `mutation { ${LOGIN} refresh(refreshToken: "x") { accessToken } }`,
  'two logins through a fragment': `mutation { ...A b: ${LOGIN} } fragment A on Mutation { a: ${LOGIN} }`,
  'two logins through fragments of fragments': `mutation { ...A ...B } fragment A on Mutation { ...C } fragment B on Mutation { b: ${LOGIN} } fragment C on Mutation { c: ${LOGIN} }`,
  'two logins in one fragment used twice under two names': `mutation { ...A ... on Mutation { ...B } } fragment A on Mutation { a: ${LOGIN} } fragment B on Mutation { b: ${LOGIN} }`,
  'two logins in inline fragments': `mutation { ... { a: ${LOGIN} } ... on Mutation { b: ${LOGIN} } }`,
  'two logins of which one is skipped': `mutation { a: ${LOGIN} b: ${LOGIN.replace(' {', ' @skip(if: true) {')} }`,
}

const OPERATIONS: Readonly<Record<string, BadRequest>> = {
  'an operation that the document does not have': operation('query A { __typename }', { operationName: ANA }),
  'two operations and no name': operation('query A { __typename } query B { __typename }'),
  'two operations and an empty name': operation('query A { __typename } query B { __typename }', { operationName: '' }),
}

/** People recognize these as a token or an email, even if not every pattern does. */
const SECRETS: Readonly<Record<string, (world: World) => string>> = {
  'an access token': ({ ana }) => ana.accessToken,
  'the end of an access token': ({ ana }) => ana.accessToken.slice(10),
  'a refresh token': ({ ana }) => ana.refreshToken,
  'a refresh token that was broken in two': ({ ana }) => `${ana.refreshToken.slice(0, 4)} ${ana.refreshToken.slice(4)}`,
  'an email': () => BEN,
  'an email with a quoted local part': () => '"ben"@example.com',
  'an email in full width': () => 'ben＠example.com',
  'an email with spaces': () => 'ben @ example.com',
  'an email, percent-encoded': () => 'ben%40example.com',
}

const WRONG_VARIABLES: readonly (readonly [what: string, query: string, variables: (secret: string) => object])[] = [
  ['a string where a number is needed', 'query ($n: Int) { me { projects(first: $n) { ref } } }', (n) => ({ n })],
  [
    'an object where a string is needed',
    'query ($r: String!) { me { project(ref: $r) { ref } } }',
    (secret) => ({ r: { value: secret } }),
  ],
  [
    'a list where a string is needed',
    'mutation ($e: String!) { login(email: $e) { accessToken } }',
    (e) => ({ e: [e] }),
  ],
]

const BAD_PAGES = [
  'projects(first: -1) { ref }',
  'projects(first: -2147483648) { ref }',
  'projects(after: " ") { ref }',
  'projects(after: "nowhere") { ref }',
  'projects(after: "MA") { ref }',
  'projects(after: "LTE") { ref }',
  'projects(after: "MS41") { ref }',
  'projects(after: "OTk5OTk5OTk5OTk5OTk5OTk5OTk") { ref }',
  'projectsConnection(first: -1) { totalCount }',
  'projectsConnection(after: "nowhere") { totalCount }',
  'projectsConnection(last: -1) { totalCount }',
  'projectsConnection(first: 1, last: -1) { totalCount }',
  'projectsConnection(before: "nowhere") { totalCount }',
  'templates(first: -1) { id }',
  'uiLibraries(after: "nowhere") { id }',
  'latestExport(ref: "site") { elements(first: -1) { path } }',
  'project(ref: "site") { exports(first: -1) { ref } }',
  'project(ref: "site") { exports(after: "MQ") { ref } }',
  'project(ref: "site") { exportsConnection(after: "nowhere") { totalCount } }',
  'project(ref: "site") { exportsConnection(before: "MQ") { totalCount } }',
  'latestExport(ref: "site") { elementsConnection(last: -1) { totalCount } }',
]

export const GRAPHQL_DOCUMENTS: Scenarios = {
  'lists of requests are refused': rows(BATCHES, (graphql) => ({
    graphql,
    status: 400,
    code: 'BATCHING_NOT_SUPPORTED',
  })),
  'requests that are not GraphQL requests are refused': rows(REQUESTS, (graphql) => ({
    graphql,
    status: 400,
    code: 'BAD_REQUEST',
  })),
  'documents that cannot be parsed are refused': rows(SYNTAX, (query) => ({
    graphql: operation(query),
    status: 400,
    code: 'GRAPHQL_PARSE_FAILED',
  })),
  'documents that do not fit the schema, or hold more than one session call, are refused': [
    ...rows(DOCUMENTS, (query) => ({ graphql: operation(query), status: 400, code: 'GRAPHQL_VALIDATION_FAILED' })),
    {
      name: 'two logins in the operation that is not asked for',
      graphql: operation(`query A { __typename } mutation B { a: ${LOGIN} b: ${LOGIN} }`, { operationName: 'A' }),
      status: 400,
      code: 'GRAPHQL_VALIDATION_FAILED',
      hasNot: DORA,
    },
    {
      name: 'two operations of one name',
      graphql: operation('query A { __typename } query A { __typename }', { operationName: 'A' }),
      status: 400,
      code: 'GRAPHQL_VALIDATION_FAILED',
    },
  ],
  'documents without the operation that is asked for are refused': rows(OPERATIONS, (graphql) => ({
    graphql,
    status: 400,
    code: 'OPERATION_NOT_FOUND',
  })),
  'variables of another type are refused without their values': Object.entries(SECRETS).flatMap(([what, secret]) =>
    WRONG_VARIABLES.map(
      ([how, query, variables]): Scenario => ({
        name: `${what} as ${how}`,
        graphql: (world) => operation(query, { variables: variables(secret(world)) }),
        status: 400,
        code: 'GRAPHQL_VALIDATION_FAILED',
      }),
    ),
  ),
  'pages that do not exist are refused': BAD_PAGES.map(
    (field): Scenario => ({
      name: field,
      graphql: ({ ana }) => operation(`{ me { ${field} } }`, { accessToken: ana.accessToken }),
      status: 200,
      code: 'INVALID_ARGUMENT',
    }),
  ),
  'a mutation by GET is refused': [
    {
      name: 'a login',
      graphql: get({ query: `mutation { ${LOGIN} }` }),
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      hasNot: DORA,
    },
  ],
  'media types that cannot be answered are refused before anything is done': [
    'image/png',
    'text/html',
    'application/xml',
  ].flatMap((accept): readonly Scenario[] => [
    {
      name: `a query for ${accept}`,
      graphql: operation('{ __typename }', { headers: { accept } }),
      status: 406,
      code: 'NOT_ACCEPTABLE',
    },
    {
      name: `a login for ${accept}`,
      graphql: operation(`mutation { ${LOGIN} }`, { headers: { accept } }),
      status: 406,
      code: 'NOT_ACCEPTABLE',
      hasNot: DORA,
    },
  ]),
}

function rows<T>(
  values: Readonly<Record<string, T>>,
  row: (value: T) => Pick<Scenario, 'graphql' | 'status' | 'code'>,
): readonly Scenario[] {
  return Object.entries(values).map(([name, value]) => ({ name, ...row(value), hasNot: [ANA, ...DORA] }))
}
