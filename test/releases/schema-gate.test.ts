// Tests that the change log names every change since the last release that breaks clients, and that the gate finds such
// changes.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { changesOf, unnamedIn } from '../../packaging/gate/breaking-change.ts'
import { breakingGraphql } from '../../packaging/gate/breaking-graphql.ts'
import { breakingOpenApi } from '../../packaging/gate/breaking-openapi.ts'
import { demoExamples } from '../../src/cli/demo/demo.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { createOpenApi } from '../../src/rest/openapi/openapi.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
/** The releases, oldest first. */
const RELEASES = readdirSync(new URL('.', import.meta.url))
  .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
const LAST = RELEASES.at(-1)
const OLD_SCHEMA = read(`./${LAST}/schema.graphql`)
const OLD_OPENAPI = read(`./${LAST}/openapi.json`)
const { version } = JSON.parse(read('../../package.json'))
const CHANGELOG = read('../../CHANGELOG.md')
/** The section of the change log for current changes. */
const NEWEST = RELEASES.includes(version) ? 'Unreleased' : version

test('the change log names every change that breaks clients of the last release', async () => {
  const options = { basePath: '', examples: await demoExamples() }
  const openApi = createOpenApi(createSchema(), options)
  const changes = [
    ...breakingGraphql(OLD_SCHEMA, read('../../schema.graphql')),
    ...breakingOpenApi(JSON.parse(OLD_OPENAPI), JSON.parse(JSON.stringify(openApi))),
  ]
  const unnamed = unnamedIn(changesOf(NEWEST, CHANGELOG), changes)
  expect(unnamed.map(({ description }) => description)).toEqual([])
})

test('every release in the change log has its schemas here', () => {
  const parts = [...CHANGELOG.matchAll(/^## (\S+)/gm)].map(([, name = '']) => name)
  expect(parts.filter((name) => name !== NEWEST)).toEqual(RELEASES.toReversed())
})

test.each([
  ['a field is gone', /^ {2}email: String!$/gm, '  address: String!', 'User.email'],
  ['an argument is required', /^ {2}project\(/m, '  project(branch: String!', 'User.project'],
  ['a type has another name', /\bSession\b/g, 'OpenSession', 'Session'],
])('the gate notices in GraphQL that %s', (_, before, after, subject) => {
  const changes = breakingGraphql(OLD_SCHEMA, OLD_SCHEMA.replace(before, after))
  expect(changes.map((change) => change.subject)).toContain(subject)
  expect(unnamedIn('', changes)).toEqual(changes)
  expect(unnamedIn(`Gone: \`${subject}\`.`, changes).map((change) => change.subject)).not.toContain(subject)
})

test.each<[string, (document: ReturnType<typeof JSON.parse>) => void, string]>([
  ['a route is gone', ({ paths }) => delete paths['/templates'], 'GET /templates: is gone'],
  ['a method is gone', ({ paths }) => delete paths['/logout'].delete, 'DELETE /logout: is gone'],
  [
    'a parameter is required',
    ({ paths }) => paths['/projects'].get.parameters.push({ name: 'page', in: 'query', required: true }),
    'GET /projects: the parameter page is required',
  ],
  [
    'a body needs another member',
    ({ components }) => components.schemas.LoginRequest.required.push('code'),
    'POST /login: the request needs code',
  ],
  [
    'an answer has lost a member',
    ({ components: { schemas } }) => {
      delete schemas.Tokens.properties.refreshToken
      schemas.Tokens.required = ['accessToken']
    },
    'POST /login: the answer 200 has no refreshToken any more',
  ],
  [
    'an answer has another type',
    ({ paths }) => {
      paths['/projects'].get.responses[200].content['application/json'].schema = { type: 'object' }
    },
    'GET /projects: the answer 200 has another type',
  ],
  [
    'a problem schema has moved and lost a member',
    ({ components }) => delete components.schemas.Problem.properties.title,
    'GET /projects: the answer 401 has no title any more',
  ],
  [
    'a status is gone',
    ({ paths }) => delete paths['/exports'].get.responses[404],
    'GET /exports: the answer 404 is gone',
  ],
  ['a token is needed', ({ paths }) => paths['/token'].post.security.push({}), 'POST /token: needs a token'],
])('the gate notices in OpenAPI that %s', (_, change, description) => {
  const changed = JSON.parse(OLD_OPENAPI)
  change(changed)
  expect(breakingOpenApi(JSON.parse(OLD_OPENAPI), changed).map((found) => found.description)).toContain(description)
})

test('additions and moved schemas pass the gate', () => {
  const changed = JSON.parse(OLD_OPENAPI)
  const content = changed.paths['/projects'].get.responses[200].content['application/json']
  changed.components.schemas.Projects = { ...content.schema, description: 'Moved.' }
  content.schema = { $ref: '#/components/schemas/Projects' }
  changed.paths['/more'] = { get: {} }
  changed.components.schemas.LoginRequest.properties.device = { type: 'string' }
  expect(breakingOpenApi(JSON.parse(OLD_OPENAPI), changed)).toEqual([])
  expect(breakingGraphql(OLD_SCHEMA, OLD_SCHEMA.replace(/^ {2}email: String!$/m, '$&\n  more: Int'))).toEqual([])
})
