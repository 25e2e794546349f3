// Tests the collections of Postman and Bruno: it reads them as their programs do, and runs them against a gateway with
// the demo workspace.
import { readdirSync, readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { READ_ROUTES, SESSION_ROUTES } from '../../src/rest/routes.ts'
import { shareDemoGateway } from '../support/command-line.ts'
import { type Answer, ask, bearer } from '../support/gateway.ts'

const COLLECTIONS = new URL('../../docs/api/collections/', import.meta.url)
const JSON_BODY = { 'content-type': 'application/json' }

interface Step {
  readonly method: string
  readonly url: string
  /** Empty for a request without a token. */
  readonly token: string
  readonly body: string | null
  readonly after: (answer: Answer, variables: Map<string, string>) => void
}

describe('the collection', () => {
  const demo = shareDemoGateway()

  test.each([
    ['of Postman', postmanSteps],
    ['of Bruno', brunoSteps],
  ])('%s runs from login to logout and passes its tokens on', async (_, read) => {
    const { variables, steps } = read()
    variables.set('baseUrl', demo.url())
    const asked: string[] = []
    for (const step of steps) {
      const [url, token] = [fill(step.url, variables), fill(step.token, variables)]
      const answer = await ask(url, {
        method: step.method,
        headers: { ...(step.body === null ? {} : JSON_BODY), ...(token === '' ? {} : bearer(token)) },
        ...(step.body === null ? {} : { body: fill(step.body, variables) }),
      })
      expect([url, answer.status]).toEqual([url, 200])
      step.after(answer, variables)
      asked.push(`${step.method} ${new URL(url).pathname}`)
    }
    const paths = new Set([...READ_ROUTES, ...SESSION_ROUTES].map(({ path }) => path))
    expect(asked.map((line) => line.split(' ')[1]).toSorted()).toEqual([...paths].toSorted())
    expect([asked[0], asked.at(-1)]).toEqual(['POST /login', 'DELETE /logout'])
    const over = await ask(`${demo.url()}/projects`, { headers: bearer(variables.get('accessToken')) })
    expect(over.status).toBe(401)
  })
})

function postmanSteps() {
  const { variable, item } = JSON.parse(
    readFileSync(new URL('workspace-gateway.postman_collection.json', COLLECTIONS), 'utf8'),
  )
  const variables = new Map<string, string>(variable.map(({ key = '', value = '' }) => [key, value]))
  const steps: readonly Step[] = item.map(({ request, event }: ReturnType<typeof JSON.parse>) => ({
    method: request.method,
    url: request.url,
    token: request.auth?.bearer[0].value ?? '',
    body: request.body?.raw ?? null,
    after(answer: Answer) {
      const pm = {
        test: (_name: string, check: () => void) => check(),
        response: {
          json: answer.json,
          to: { have: { status: (wanted: number) => expect(answer.status).toBe(wanted) } },
        },
        collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
      }
      for (const { script } of event) runInNewContext(script.exec.join('\n'), { pm })
    },
  }))
  return { variables, steps }
}

function brunoSteps() {
  const folder = new URL('bruno/', COLLECTIONS)
  const read = (name: string) => blocksOf(readFileSync(new URL(name, folder), 'utf8'))
  const variables = new Map(Object.entries(membersOf(read('environments/local.bru').get('vars'))))
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.bru'))
    .map(read)
  const seqOf = (blocks: ReadonlyMap<string, string>) => Number(membersOf(blocks.get('meta')).seq)
  const steps = files
    .toSorted((a, b) => seqOf(a) - seqOf(b))
    .map((blocks): Step => {
      const method = ['get', 'post', 'delete'].find((name) => blocks.has(name)) ?? ''
      return {
        method: method.toUpperCase(),
        url: membersOf(blocks.get(method)).url ?? '',
        token: membersOf(blocks.get('auth:bearer')).token ?? '',
        body: blocks.get('body:json') ?? null,
        after(answer, known) {
          for (const [name, expression] of Object.entries(membersOf(blocks.get('vars:post-response')))) {
            known.set(name, String(runInNewContext(expression, { res: { body: answer.json() } })))
          }
        },
      }
    })
  return { variables, steps }
}

/** Parses Bruno's language: returns the text of each block by its name, without the two spaces before each line. */
function blocksOf(text: string): ReadonlyMap<string, string> {
  const found = [...text.matchAll(/^([a-z:-]+) \{\n(.*?)^\}$/gms)]
  return new Map(found.map(([, name = '', content = '']) => [name, content.replaceAll(/^ {2}/gm, '')]))
}

function membersOf(block = ''): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...block.matchAll(/^([^:\n]+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

function fill(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => variables.get(name) ?? `no ${name}`)
}
