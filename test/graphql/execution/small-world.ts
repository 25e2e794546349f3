// A small schema with its own resolvers: what the gateway's executor answers, and what graphql-js answers.
import { makeExecutableSchema } from '@graphql-tools/schema'
import { execute, type GraphQLError, type GraphQLSchema, parse } from 'graphql'
import { toPreparedDocument } from '../../../src/graphql/document/prepared-document.ts'
import { FieldFailure } from '../../../src/graphql/execution/collected-errors.ts'
import { createExecutor, type Execution, type ExecutorOptions } from '../../../src/graphql/execution/execute.ts'
import { placeOf } from '../../../src/graphql/execution/place.ts'
import { encodeWhole } from '../../../src/graphql/execution/text.ts'
import type { Context } from '../../../src/resolvers/context.ts'
import { type RequestBudget, UNCOUNTED } from '../../../src/resolvers/request-budget.ts'

export interface SmallWorldOptions extends Partial<Pick<ExecutorOptions, 'clock'>> {
  readonly yieldTurn?: Context['yieldTurn']
  readonly budget?: RequestBudget
}

export interface Told {
  readonly data: unknown
  readonly errors: readonly { readonly path: unknown; readonly locations: unknown }[]
}

export interface SmallWorld {
  /** Returns a promise only if the execution had to wait for something. */
  readonly run: (query: string, variables?: Readonly<Record<string, unknown>>) => Execution | Promise<Execution>
  readonly told: (query: string, variables?: Readonly<Record<string, unknown>>) => Promise<Told>
  readonly oracle: (query: string, variables?: Readonly<Record<string, unknown>>) => Promise<Told>
}

type Resolvers = NonNullable<Parameters<typeof makeExecutableSchema>[0]['resolvers']>

export function createSmallWorld(typeDefs: string, resolvers: Resolvers, options: SmallWorldOptions = {}): SmallWorld {
  const schema: GraphQLSchema = makeExecutableSchema({ typeDefs, resolvers })
  const { clock = { isOverdue: () => false }, yieldTurn = () => Promise.resolve(), budget = UNCOUNTED } = options
  const executor = createExecutor({ schema, clock })
  // These members are all that the executor itself reads.
  const context = { budget, yieldTurn } as Context
  const documents = new Map<string, ReturnType<typeof toPreparedDocument>>()

  function run(query: string, variables: Readonly<Record<string, unknown>> = {}): Execution | Promise<Execution> {
    const document =
      documents.get(query) ?? toPreparedDocument(parse(query), { maxBytes: Number.MAX_SAFE_INTEGER, onResize() {} })
    documents.set(query, document)
    const operation = document.operation(undefined)
    if (!operation) throw new Error('the document has not one operation')
    return executor.execute(operation, variables, context, { hideSuggestions: false })
  }

  return {
    run,
    async told(query, variables) {
      const { data, errors } = await run(query, variables)
      return { data: data === null ? null : JSON.parse(textOf(data)), errors: errors.map(toPlace) }
    },
    async oracle(query, variables = {}) {
      const { data, errors = [] } = await execute({ schema, document: parse(query), variableValues: variables })
      return { data: JSON.parse(JSON.stringify(data ?? null)), errors: errors.map(toPlace) }
    },
  }
}

export function textOf(data: Execution['data']): string {
  if (data === null) throw new Error('nothing was executed')
  const bytes = encodeWhole(data)
  if (bytes === null) throw new Error('it holds a stream')
  return Buffer.from(bytes).toString()
}

function toPlace(error: GraphQLError | FieldFailure): Told['errors'][number] {
  const { path, locations } = error instanceof FieldFailure ? placeOf(error) : error
  return { path: path && [...path], locations: locations?.map(({ line, column }) => ({ line, column })) }
}
