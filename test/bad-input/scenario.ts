// A bad request as a row: what is sent over each protocol, what the answer is, and what the answer must not contain.
import { expect, test } from 'vitest'
import type { FailureCode } from '../../src/errors.ts'
import type { Awaitable } from '../../src/store/contract.ts'
import { type ExpectedFailure, expectGraphQLFailure, expectProblem } from '../support/failures.ts'
import { type Answer, ask, bearer, startGateway, type TestGateway, type Tokens } from '../support/gateway.ts'
import { expectEach } from '../support/rows.ts'
import { countSessions } from '../support/sessions.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

/** A gateway that serves the small world, with Ana signed in. */
export interface World {
  readonly gateway: TestGateway
  readonly ana: Tokens
}

export interface BadRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Sent without a Content-Length. */
  readonly isChunked?: boolean
}

type Request = BadRequest | ((world: World) => Awaitable<BadRequest>)

export interface Scenario {
  readonly name: string
  readonly status: number
  readonly code: FailureCode
  readonly rest?: Request
  /** The same request in GraphQL, if there is one. */
  readonly graphql?: Request
  /** The status and code of GraphQL, if they differ: a partial answer is 200. */
  readonly graphqlStatus?: number
  readonly graphqlCode?: FailureCode
  /** What the answer must not contain, besides every token, email and argument that is sent. */
  readonly hasNot?: readonly string[]
}

export const BODY_LIMIT_BYTES = 16_384

export const JSON_TYPE = { 'content-type': 'application/json' } as const
/** With this media type a failed GraphQL request has the failure's own status. */
const GRAPHQL_RESPONSE = { accept: 'application/graphql-response+json' } as const

/** Names in what is stored for Ben. */
const NOT_ANAS = [BEN, 'Secret of ben', 'ben.txt']

/** Rows, grouped by what they have in common. */
export type Scenarios = Readonly<Record<string, readonly Scenario[]>>

/** Makes one test of all rows of a group, on one gateway, which no row may change. */
export function testScenarios(groups: Scenarios): void {
  test.each(Object.entries(groups))('%s', async (_name, scenarios) => {
    const world = await startWorld()
    const { gateway, ana } = world
    await expectEach(scenarios.flatMap(casesOf), async ({ request, expectFailure, status, code, hasNot }) => {
      const bad = typeof request === 'function' ? await request(world) : request
      gateway.reported.length = 0
      const sessions = countSessions(gateway.databasePath)
      const answer = await send(gateway, bad)
      expect(countSessions(gateway.databasePath), `sessions after ${answer.status} ${answer.text}`).toBe(sessions)
      expectFailure(answer, { status, code, hasNot: [...hasNot, ...secretsIn(bad), ...NOT_ANAS] })
      // The log is empty, too: nothing went wrong inside.
      expect(gateway.reported).toEqual([])
    })
    expect((await gateway.get('/projects', ana.accessToken)).status).toBe(200)
  })
}

/** A scenario over one protocol. */
interface Case {
  readonly name: string
  readonly request: Request
  readonly expectFailure: (answer: Answer, expected: ExpectedFailure) => void
  readonly status: number
  readonly code: FailureCode
  readonly hasNot: readonly string[]
}

function casesOf(scenario: Scenario): readonly Case[] {
  const { name, rest, graphql, status, code, graphqlStatus = status, graphqlCode = code, hasNot = [] } = scenario
  return [
    ...(rest ? [{ name: `${name}, in REST`, request: rest, expectFailure: expectProblem, status, code, hasNot }] : []),
    ...(graphql
      ? [
          {
            name: `${name}, in GraphQL`,
            request: graphql,
            expectFailure: expectGraphQLFailure,
            status: graphqlStatus,
            code: graphqlCode,
            hasNot,
          },
        ]
      : []),
  ]
}

export async function startWorld(): Promise<World> {
  const gateway = await startGateway({ bodyLimitBytes: BODY_LIMIT_BYTES })
  await gateway.load(SMALL_WORLD)
  return { gateway, ana: await gateway.login(ANA) }
}

/** `POST /graphql` of an operation. */
export function operation(
  query: string,
  rest: {
    readonly variables?: unknown
    readonly operationName?: unknown
    readonly accessToken?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): BadRequest {
  const { accessToken, headers, ...parameters } = rest
  return graphqlBody(JSON.stringify({ query, ...parameters }), { ...bearer(accessToken), ...headers })
}

export function graphqlBody(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): BadRequest {
  return { method: 'POST', path: '/graphql', headers: { ...JSON_TYPE, ...headers }, body }
}

export async function send(gateway: TestGateway, request: BadRequest): Promise<Answer> {
  const { method, path, headers = {}, body, isChunked = false } = request
  const accept = path.startsWith('/graphql') ? GRAPHQL_RESPONSE : {}
  const bytes = body === undefined ? undefined : Buffer.from(body)
  return ask(`${gateway.url}${path}`, {
    method,
    headers: { ...accept, ...headers },
    ...(bytes && isChunked ? { body: new Blob([bytes]).stream(), duplex: 'half' as const } : {}),
    ...(bytes && !isChunked ? { body: bytes } : {}),
  })
}

/**
 * The credentials, arguments and fields of a request: none may appear in the answer. Shorter ones may appear by chance.
 */
function secretsIn({ path, headers = {}, body = '' }: BadRequest): readonly string[] {
  const credentials = (headers.authorization ?? '').split(' ').slice(1)
  const search = [...new URL(path, 'http://gateway').searchParams.values()]
  return [...credentials, ...search, ...fieldsOf(body)].filter((secret) => secret.length > 3)
}

function fieldsOf(body: string | Uint8Array): readonly string[] {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(body).toString())
  } catch {
    return []
  }
  return value !== null && typeof value === 'object' && 'query' in value
    ? leavesOf('variables' in value ? value.variables : null)
    : leavesOf(value)
}

/** Without recursion, because one of the bodies is nested deeper than the stack. */
function leavesOf(value: unknown): readonly string[] {
  const leaves: string[] = []
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') leaves.push(next)
    else if (typeof next === 'object' && next !== null) open.push(...Object.values(next))
  }
  return leaves
}
