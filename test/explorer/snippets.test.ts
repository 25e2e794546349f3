// What the pages offer to copy: that it runs as it stands, in every language that is here, and answers what it should.
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

/** How a file of each language is run. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  curl: ['bash'],
  JavaScript: [process.execPath],
  Python: ['python3'],
  Go: ['go', 'run'],
}
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const EMAIL = 'demo@example.com'
/** Nothing that a header could not hold. */
const ODD = `it's "$HOME" \`x\` \${y} \\ %s @`
const SECRET = `wgr_${'x'.repeat(43)}`
const HOSTILE = `it's"; echo $HOME \`x\` \${y} ü \\`

const REFERENCE = 'roastery-site'
/** What the answers of the session calls have in them: tokens differ from call to call. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  '/login': ['login.accessToken', 'login.refreshToken'],
  '/token': ['refresh.accessToken'],
  '/logout': ['logout'],
}

/** Clients add the type of every object. */
function withoutTypes(name: string, value: unknown): unknown {
  return name === '__typename' ? undefined : value
}

function membersIn(data: unknown): readonly string[] {
  return Object.entries(data as object).flatMap(([name, value]) =>
    typeof value === 'object' ? membersIn(value).map((inner) => `${name}.${inner}`) : [name],
  )
}

function isHere(program: string): boolean {
  return spawnSync(program, [program === 'go' ? 'version' : '--version']).error === undefined
}

describe.each(SNIPPET_LANGUAGES.filter(({ name }) => name in RUNNERS))('$name', (language) => {
  const program = RUNNERS[language.name]?.[0] ?? ''
  const runs = isHere(program)
  if (!runs) console.warn(`skipped: running the snippets in ${language.name} needs ${program}`)
  const gateway = shareDemoGateway()

  test.skipIf(!runs)(
    'every call runs as it is pasted, with the sign-in and without, and agrees with its twin',
    async () => {
      const url = gateway.url()
      const tokens = await openSession(url, EMAIL)
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
        expect(['same', 'refused'], `${left} ${right}`).toContain(verdict.kind)
        if (route.parameter !== null) expect(left).toContain('NO_PROJECT')
      })
      await Promise.all(calls)
      const [read] = EXPLORER_ROUTES
      if (!read) throw new Error('no routes')
      // What the page shows is what the gateway answers: every read, and an export that is there.
      for (const route of EXPLORER_ROUTES.filter(({ method }) => method === 'GET')) {
        const query = route.parameter === null ? '' : `?${new URLSearchParams({ [route.parameter]: REFERENCE })}`
        const headers = { authorization: `Bearer ${tokens.accessToken}` }
        const shown = await (await fetch(`${url}${route.path}${query}`, { headers })).text()
        expect(shown.length).toBeGreaterThan(100)
        expect(await run(language, restCall({ route, value: REFERENCE }, url), null, tokens)).toBe(shown.trim())
      }
      expect(language.write(restCall({ route: read, value: '' }, url), null)).not.toContain(tokens.accessToken)
    },
  )

  test.skipIf(!runs)(
    'headers of one’s own arrive as they are written, and stand in for what is sent usually',
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
      // A token of a gateway is in no snippet, whatever a person writes.
      for (const name of ['Authorization', 'X-Token']) {
        const written = restCall({ route: read, value: '', headers: [[name, `Bearer ${SECRET}`]] }, url)
        expect(language.write(written, null)).not.toContain(SECRET)
      }
    },
  )
})

/** The first words say nothing of what it does. */
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

describe.each(SNIPPET_LANGUAGES)('$name', (language) => {
  const [program = process.execPath] = RUNNERS[language.name] ?? []
  const runs = isHere(program)
  if (!runs) console.warn(`skipped: running the snippets in ${language.name} needs ${program}`)
  const gateway = shareDemoGateway()

  test.skipIf(!runs)(
    'of a document with several operations the one that is named runs, and what it needs',
    async () => {
      const url = gateway.url()
      const tokens = await openSession(url, EMAIL)
      const printed = (name: string | null, variables = {}) =>
        run(language, graphqlCall(SEVERAL, variables, url, { operationName: name }), null, tokens)
      const [refs, first, kinds, entered] = await Promise.all([
        printed('Refs'),
        printed(null),
        printed('Kinds'),
        printed('Enter', { email: EMAIL }),
      ])
      expect(refs).toContain(REFERENCE)
      expect(first).toBe(refs)
      expect(kinds).toContain('"kind"')
      expect(kinds).not.toContain('"ref"')
      expect(entered).toMatch(/"again":.*"accessToken":"ey/)
      // Who signs in has no token yet.
      const enter = graphqlCall(SEVERAL, { email: EMAIL }, url, { operationName: 'Enter' })
      expect(language.write(enter, null)).not.toMatch(/authorization/i)
    },
  )
})

describe.each(SNIPPET_LANGUAGES.filter(({ isForGraphqlOnly }) => isForGraphqlOnly))('$name', (language) => {
  const gateway = shareDemoGateway()

  test('every twin runs as it is pasted, and gives the answer that the page shows', async () => {
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

  test('headers of one’s own arrive as they are written', async () => {
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

test.each(['"', '"""'])('a query with many megabytes in one string between %s is read to its end', (quote) => {
  const query = `query First { a(b: ${quote}${'A'.repeat(12_000_000)}${quote}) } query Last { c }`
  expect(graphqlCall(query, {}, 'https://gateway.example', { operationName: 'Last' }).graphql?.operation).toEqual({
    name: 'Last',
    isMutation: false,
    isLogin: false,
    text: 'query Last { c }',
    isOneOfMany: true,
  })
})

test('answers that differ are told apart, to the byte, in four states', () => {
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

/** What it prints; the tokens are in the environment, as for somebody who has them already. */
async function run(
  language: SnippetLanguage,
  call: Call,
  signsIn: { readonly url: string; readonly email: string } | null,
  tokens?: Tokens,
): Promise<string> {
  const directory = temporaryDirectory()
  // Where a reader has installed the client.
  symlinkSync(PACKAGES, join(directory, 'node_modules'))
  const file = join(directory, language.fileName)
  writeFileSync(file, language.write(call, signsIn))
  const [program = '', ...args] = RUNNERS[language.name] ?? [process.execPath]
  const env = { ...process.env, ACCESS_TOKEN: tokens?.accessToken, REFRESH_TOKEN: tokens?.refreshToken }
  const child = spawn(program, [...args, file], { env })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(stderr).toBe('')
  return stdout.trim()
}
