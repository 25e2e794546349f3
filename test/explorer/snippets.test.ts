// Runs the code samples of the pages in every language that is installed, and checks what they print.
import { spawn, spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { compare } from '../../src/explorer/rosetta/comparison.ts'
import { type Call, graphqlCall, REFRESH_TOKEN, restCall } from '../../src/explorer/snippets/call.ts'
import { SNIPPET_LANGUAGES, type SnippetLanguage } from '../../src/explorer/snippets/languages.ts'
import { isJson } from '../../src/explorer/text/json-lines.ts'
import { EXPLORER_ROUTES } from '../../src/pages/explorer-data.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { openSession, type Tokens } from '../support/gateway.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** The command that runs a file of each language. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  curl: ['bash'],
  JavaScript: [process.execPath],
  Python: ['python3'],
  Go: ['go', 'run'],
}
/** Go compiles each snippet: without a C compiler and without collecting garbage that takes less processor time. */
const GO_COMPILER = { CGO_ENABLED: '0', GOGC: 'off' }
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const EMAIL = 'demo@example.com'
/** Special characters, all of which a header may contain. */
const ODD = `it's "$HOME" \`x\` \${y} \\ %s @`
const SECRET = `wgr_${'x'.repeat(43)}`
const HOSTILE = `it's"; echo $HOME \`x\` \${y} ü \\`

const REFERENCE = 'roastery-site'
/** The fields that the answers of the session calls must have; their tokens differ from call to call. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  '/login': ['login.accessToken', 'login.refreshToken'],
  '/token': ['refresh.accessToken'],
  '/logout': ['logout'],
}

/** Removes `__typename`, which clients add to every object. */
function withoutTypes(name: string, value: unknown): unknown {
  return name === '__typename' ? undefined : value
}

function membersIn(data: unknown): readonly string[] {
  return Object.entries(data as object).flatMap(([name, value]) =>
    typeof value === 'object' ? membersIn(value).map((inner) => `${name}.${inner}`) : [name],
  )
}

/** The languages of which a snippet cannot run here. */
const MISSING = SNIPPET_LANGUAGES.filter(({ name }) => {
  const [program = process.execPath] = RUNNERS[name] ?? []
  const { error } = spawnSync(program, [program === 'go' ? 'version' : '--version'])
  if (error) console.warn(`skipped: running the snippets in ${name} needs ${program}`)
  return error
})

const gateway = shareDemoGateway()

describe.each(SNIPPET_LANGUAGES.filter(({ name }) => name in RUNNERS))('the $name snippets', (language) => {
  const isMissing = MISSING.includes(language)

  test.skipIf(isMissing)(
    'every call runs as pasted, with and without the sign-in, and agrees with its twin',
    async () => {
      const url = gateway.url()
      const tokens = await openSession(url, EMAIL)
      /** What the gateway answers to the same request. */
      async function answerTo(call: Call): Promise<string> {
        const headers = { authorization: `Bearer ${tokens.accessToken}` }
        const answer = await (await fetch(call.url, { headers })).text()
        expect(answer.length).toBeGreaterThan(100)
        return answer.trim()
      }
      const [read] = EXPLORER_ROUTES
      const named = EXPLORER_ROUTES.find(({ parameter }) => parameter !== null)
      if (!read || !named) throw new Error('no routes')
      // Without the sign-in, for an export that exists. What comes before the request is the same for every read.
      // Before the others: the first program in Go compiles its packages, and at once each would do that.
      const stored = restCall({ route: named, value: REFERENCE }, url)
      expect(await run(language, stored, null, tokens)).toBe(await answerTo(stored))
      expect(language.write(restCall({ route: read, value: '' }, url), null)).not.toContain(tokens.accessToken)
      const calls = EXPLORER_ROUTES.map(async (route) => {
        const value = route.field === 'email' ? EMAIL : route.field === 'refreshToken' ? REFRESH_TOKEN : HOSTILE
        const name = route.field ?? route.parameter
        const rest = restCall({ route, value }, url)
        const graphql = graphqlCall(route.twin, name === null ? {} : { [name]: value }, url)
        const [left = '', right = ''] = await Promise.all(
          [rest, graphql].map((call) => run(language, call, { url, email: EMAIL })),
        )
        const verdict = compare(
          { status: 200, isJson: isJson(left), text: left },
          { status: 200, isJson: isJson(right), text: right },
        )
        // Only the export is refused: no project has this reference.
        expect(verdict.kind, `${left} ${right}`).toBe(route.parameter === null ? 'same' : 'refused')
        if (route.parameter !== null) expect(left).toContain('NO_PROJECT')
        else if (route.method === 'GET') expect(left).toBe(await answerTo(rest))
      })
      await Promise.all(calls)
    },
  )

  test.skipIf(isMissing)(
    'custom headers arrive as written, and replace the headers that are sent by default',
    async () => {
      const url = await listenForTest(createServer(({ headers }, response) => response.end(JSON.stringify(headers))))
      const login = EXPLORER_ROUTES.find(({ field }) => field === 'email')
      const [read] = EXPLORER_ROUTES
      if (!read || !login) throw new Error('no routes')
      const tokens = { accessToken: 'an-access-token', refreshToken: '' }
      const [plain, own, typed] = await Promise.all([
        run(
          language,
          restCall(
            {
              route: read,
              value: '',
              headers: [
                ['X-Mine', ODD],
                ['X-Empty', ''],
              ],
            },
            url,
          ),
          null,
          tokens,
        ),
        run(
          language,
          restCall({ route: read, value: '', headers: [['authorization', 'Basic bWluZQ==']] }, url),
          null,
          tokens,
        ),
        run(language, restCall({ route: login, value: EMAIL, headers: [['content-type', 'text/plain']] }, url), null),
      ])
      expect(JSON.parse(plain)).toMatchObject({ 'x-mine': ODD, 'x-empty': '', authorization: 'Bearer an-access-token' })
      expect(JSON.parse(own).authorization).toBe('Basic bWluZQ==')
      expect(JSON.parse(typed)['content-type']).toBe('text/plain')
      // No snippet contains a token of a gateway, whatever the user writes.
      for (const name of ['Authorization', 'X-Token']) {
        const written = restCall({ route: read, value: '', headers: [[name, `Bearer ${SECRET}`]] }, url)
        expect(language.write(written, null)).not.toContain(SECRET)
      }
    },
  )
})

/** The comment at the beginning must not be taken for an operation. */
const SEVERAL = `# mutation { nothing }
fragment Name on Project { ref, tags @include(if: $all) }
fragment Kind on Template { kind }
query Refs($all: Boolean = true) { me { projects { ...Name } } }
query Kinds { me { templates { ...Kind } } }
mutation Enter($email: String!) {
  # Under another name.
  again: login(email: $email) { accessToken }
}
`

describe.each(SNIPPET_LANGUAGES)('the $name snippets', (language) => {
  const isMissing = MISSING.includes(language)

  test.skipIf(isMissing)(
    'the named operation of several runs, with the variables and fragments that it needs',
    async () => {
      const url = gateway.url()
      const tokens = await openSession(url, EMAIL)
      const printed = (name: string, variables = {}) =>
        run(language, graphqlCall(SEVERAL, variables, url, { operationName: name }), null, tokens)
      const [refs, kinds, entered] = await Promise.all([
        printed('Refs'),
        printed('Kinds'),
        printed('Enter', { email: EMAIL }),
      ])
      expect(refs).toContain(REFERENCE)
      const written = (operationName: string | null) =>
        language.write(graphqlCall(SEVERAL, {}, url, { operationName }), null)
      expect(written(null)).toBe(written('Refs'))
      expect(kinds).toContain('"kind"')
      expect(kinds).not.toContain('"ref"')
      expect(entered).toMatch(/"again":.*"accessToken":"ey/)
      // A login is sent without a token.
      const enter = graphqlCall(SEVERAL, { email: EMAIL }, url, { operationName: 'Enter' })
      expect(language.write(enter, null)).not.toMatch(/authorization/i)
    },
  )
})

describe.each(SNIPPET_LANGUAGES.filter(({ isForGraphqlOnly }) => isForGraphqlOnly))('$name snippets', (language) => {
  test('every twin runs as pasted, and gives the answer that the page shows', async () => {
    const url = gateway.url()
    const tokens = await openSession(url, EMAIL)
    const calls = EXPLORER_ROUTES.map(async (route) => {
      const value =
        route.field === 'email' ? EMAIL : route.field === 'refreshToken' ? REFRESH_TOKEN : route.parameter && REFERENCE
      const name = route.field ?? route.parameter
      const call = graphqlCall(route.twin, name === null ? {} : { [name]: value }, url)
      const printed: unknown = JSON.parse(await run(language, call, { url, email: EMAIL }), withoutTypes)
      if (route.field !== null) return expect(membersIn(printed)).toEqual(MEMBERS[route.path])
      const answer = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${tokens.accessToken}` },
        body: JSON.stringify(call.body),
      })
      expect({ data: printed }).toEqual(await answer.json())
    })
    await Promise.all(calls)
    expect(calls).toHaveLength(8)
  })

  test('custom headers arrive as written in the requests of a GraphQL client', async () => {
    const seen: unknown[] = []
    const server = createServer(({ headers }, response) => {
      seen.push(headers['x-mine'], headers.authorization)
      response.setHeader('content-type', 'application/json').end('{"data":{"me":null}}')
    })
    const call = graphqlCall('{ me { id } }', {}, await listenForTest(server), {
      headers: [['X-Mine', ODD]],
    })
    await run(language, call, null, { accessToken: 'an-access-token', refreshToken: '' })
    expect(seen).toEqual([ODD, 'Bearer an-access-token'])
  })
})

test.each(['"', '"""'])('a query with a string of many megabytes between %s is read to its end', (quote) => {
  const query = `query First { a(b: ${quote}${'A'.repeat(12_000_000)}${quote}) } query Last { c }`
  expect(graphqlCall(query, {}, 'https://gateway.example', { operationName: 'Last' }).graphql?.operation).toEqual({
    name: 'Last',
    isMutation: false,
    isLogin: false,
    text: 'query Last { c }',
    isOneOfMany: true,
  })
})

test('compare() tells answers apart to the byte, with four kinds of verdicts', () => {
  const verdict = (rest: string, graphql: string, status = 200) =>
    compare({ status, isJson: isJson(rest), text: rest }, { status, isJson: isJson(graphql), text: graphql })
  const twin = (documents: string) => `{"data":{"me":{"projects":[${documents}]}}}`
  expect(
    verdict('[1.0,{"n":12345678901234567890}]', twin('{"data":1.0},{"data":{"n":12345678901234567890}}')).kind,
  ).toBe('same')
  expect(verdict('[1.0]', twin('{"data":1}'))).toEqual({
    kind: 'different',
    text: 'Document 1 differs at character 2.',
    difference: { rest: '1.0', graphql: '1' },
  })
  expect(verdict('[12345678901234567890]', twin('{"data":12345678901234567891}')).kind).toBe('different')
  expect(verdict('[1]', twin('{"data":1},{"data":2}')).text).toBe('REST holds 1 document, GraphQL 2.')
  expect(verdict('[]', twin('')).kind).toBe('same')
  const refusal = '{"code":"NO_PROJECT"}'
  const twinRefusal = (code: string) => `{"errors":[{"message":"no","extensions":{"code":"${code}"}}]}`
  expect(verdict(refusal, twinRefusal('NO_PROJECT')).kind).toBe('refused')
  expect(verdict(refusal, twinRefusal('NO_EXPORT')).kind).toBe('different')
  expect(verdict('{"code":"NO_WORKSPACE"}', '{"data":{"me":null}}')).toMatchObject({
    kind: 'refused',
    text: expect.stringContaining('No workspace is stored'),
  })
  for (const [rest, graphql] of [
    ['[1]', twin('{"name":"no data"}')],
    ['not json', 'not json either'],
    ['[1]', twinRefusal('GRAPHQL_VALIDATION_FAILED')],
  ] as const) {
    expect(verdict(rest, graphql)).toMatchObject({ kind: 'incomparable', text: expect.not.stringContaining('`') })
  }
  expect(verdict('[]', twin(''), 0).kind).toBe('incomparable')
})

/** Returns the output of the snippet; a user who has tokens already has them in the environment. */
async function run(
  language: SnippetLanguage,
  call: Call,
  signsIn: { readonly url: string; readonly email: string } | null,
  tokens?: Tokens,
): Promise<string> {
  const directory = temporaryDirectory()
  // The place where the reader has installed the client.
  symlinkSync(PACKAGES, join(directory, 'node_modules'))
  const file = join(directory, language.fileName)
  writeFileSync(file, language.write(call, signsIn))
  const [program = '', ...args] = RUNNERS[language.name] ?? [process.execPath]
  const env = { ...process.env, ...GO_COMPILER, ACCESS_TOKEN: tokens?.accessToken, REFRESH_TOKEN: tokens?.refreshToken }
  const child = spawn(program, [...args, file], { env })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(stderr).toBe('')
  return stdout.trim()
}
