// docs/api/collections: the routes of the contract as a collection of Postman and one of Bruno, in an order that runs from sign-in to
// sign-out, the tokens passed on.
import { READ_ROUTES, type ReadRoute, SESSION_ROUTES, type SessionRoute } from '../../src/rest/routes.ts'

const NAME = 'Workspace Gateway'
/** Of the demo workspace, which the first `serve` loads. */
const VARIABLES = { baseUrl: 'http://127.0.0.1:4000', email: 'demo@example.com', r: 'roastery-site' }

interface Step {
  readonly name: string
  readonly method: string
  readonly path: string
  /** As the body's JSON; null for a read. */
  readonly field: string | null
  readonly parameter: string | null
  /** What later steps use of the answer. */
  readonly kept: readonly string[]
}

/** By their paths below `docs/api/collections`. */
export function collections(): Readonly<Record<string, string>> {
  const steps = stepsOf()
  return {
    'workspace-gateway.postman_collection.json': `${JSON.stringify(postman(steps), null, 2)}\n`,
    'bruno/bruno.json': `${JSON.stringify({ version: '1', name: NAME, type: 'collection' }, null, 2)}\n`,
    'bruno/environments/local.bru': block('vars', lines(VARIABLES)),
    ...Object.fromEntries(steps.map((step, index) => [`bruno/${step.name}.bru`, bruno(step, index + 1)])),
  }
}

/** Of a path with two methods the first: a session ends once. */
function stepsOf(): readonly Step[] {
  const sessions = SESSION_ROUTES.filter(
    (route, index, all) => all.findIndex(({ path }) => path === route.path) === index,
  )
  const [first, ...others] = sessions.map(sessionStep)
  return [...(first ? [first] : []), ...READ_ROUTES.map(readStep), ...others]
}

function sessionStep({ method, path, summary, field, twin }: SessionRoute): Step {
  const answered = /\{([^{}]*)\}\s*\}$/.exec(twin)?.[1]?.split(/\s+/) ?? []
  const kept = ['accessToken', 'refreshToken'].filter((name) => answered.includes(name))
  return { name: summary, method, path, field, parameter: null, kept }
}

function readStep({ method, path, summary, parameter }: ReadRoute): Step {
  return { name: summary, method, path, field: null, parameter: parameter ?? null, kept: [] }
}

function urlOf({ path, parameter }: Step): string {
  return `{{baseUrl}}${path}${parameter === null ? '' : `?${parameter}={{${parameter}}}`}`
}

function bodyOf(field: string): string {
  return JSON.stringify({ [field]: `{{${field}}}` }, null, 2)
}

function postman(steps: readonly Step[]): object {
  return {
    info: { name: NAME, schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    variable: Object.entries(VARIABLES).map(([key, value]) => ({ key, value })),
    item: steps.map((step) => ({
      name: step.name,
      event: [{ listen: 'test', script: { type: 'text/javascript', exec: postmanScript(step) } }],
      request: {
        method: step.method,
        url: urlOf(step),
        ...(step.field === null
          ? { auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{accessToken}}', type: 'string' }] } }
          : {
              header: [{ key: 'Content-Type', value: 'application/json' }],
              body: { mode: 'raw', raw: bodyOf(step.field), options: { raw: { language: 'json' } } },
            }),
      },
    })),
  }
}

function postmanScript({ kept }: Step): readonly string[] {
  return [
    `pm.test('answers 200', () => pm.response.to.have.status(200))`,
    ...kept.map((name) => `pm.collectionVariables.set('${name}', pm.response.json().${name})`),
  ]
}

function bruno(step: Step, seq: number): string {
  const { name, method, field, parameter, kept } = step
  const [body, auth] = field === null ? ['none', 'bearer'] : ['json', 'none']
  return [
    block('meta', lines({ name, type: 'http', seq })),
    block(method.toLowerCase(), lines({ url: urlOf(step), body, auth })),
    ...(parameter === null ? [] : [block('params:query', lines({ [parameter]: `{{${parameter}}}` }))]),
    ...(field === null ? [block('auth:bearer', lines({ token: '{{accessToken}}' }))] : []),
    ...(field === null ? [] : [block('body:json', bodyOf(field).split('\n'))]),
    ...(kept.length === 0
      ? []
      : [
          block(
            'vars:post-response',
            kept.map((key) => `${key}: res.body.${key}`),
          ),
        ]),
    block('assert', ['res.status: eq 200']),
  ].join('\n')
}

function lines(members: Readonly<Record<string, string | number>>): readonly string[] {
  return Object.entries(members).map(([name, value]) => `${name}: ${value}`)
}

function block(name: string, content: readonly string[]): string {
  return `${name} {\n${content.map((line) => `  ${line}\n`).join('')}}\n`
}
