// Queries that were parsed, validated and compiled before, by their text.
import type { ExecutionResult } from 'graphql'
import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  OperationTypeNode,
  parse,
  specifiedRules,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Context } from '../../resolvers/context.ts'
import { singleSessionMutation } from '../document/single-session-mutation-rule.ts'

/** GraphiQL's introspection query is some 300 tokens. */
export const MAX_DOCUMENT_TOKENS = 2_000
const MAX_QUERIES = 1_000
/** A longer text is not kept: a client that sends a new one each time would fill the memory. */
const MAX_TEXT_LENGTH = 16_384
const RULES = [...specifiedRules, singleSessionMutation]

export interface CompiledQuery {
  /** Whether a field of the scalar `JSON` is asked for: without one the answer is plain data. */
  readonly hasRawJson: boolean
  /** Null when the query is not answered whole: then an executor has to say what went wrong. */
  readonly answer: (context: Context, variables: Readonly<Record<string, unknown>>) => Promise<ExecutionResult['data']>
}

export interface CompiledQueries {
  /** The compiled query, null for whatever is not one valid query operation. */
  readonly get: (text: string, operationName: string | undefined) => CompiledQuery | null
}

export function createCompiledQueries(schema: GraphQLSchema): CompiledQueries {
  const queries = new Map<string, CompiledQuery | null>()

  function compile(text: string, operationName: string | undefined): CompiledQuery | null {
    const document = validDocument(schema, text)
    const operation = document && getOperationAST(document, operationName)
    if (!document || operation?.operation !== OperationTypeNode.QUERY) return null
    const compiled = compileQuery(schema, document, operationName)
    if (!isCompiledQuery(compiled)) return null
    return {
      hasRawJson: asksForRawJson(schema, document),
      async answer(context, variables) {
        const { data, errors } = await compiled.query({}, context, variables)
        return errors ? null : data
      },
    }
  }

  return {
    get(text, operationName) {
      const key = operationName === undefined ? text : `${operationName}\n${text}`
      const known = queries.get(key)
      if (known !== undefined) return known
      const compiled = compile(text, operationName)
      if (key.length > MAX_TEXT_LENGTH) return compiled
      queries.set(key, compiled)
      const [oldest] = queries.size > MAX_QUERIES ? queries.keys() : []
      if (oldest !== undefined) queries.delete(oldest)
      return compiled
    },
  }
}

function validDocument(schema: GraphQLSchema, text: string): DocumentNode | null {
  try {
    const document = parse(text, { maxTokens: MAX_DOCUMENT_TOKENS })
    return validate(schema, document, RULES).length === 0 ? document : null
  } catch {
    return null
  }
}

function asksForRawJson(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema)
  let isFound = false
  visit(
    document,
    visitWithTypeInfo(types, {
      Field() {
        if (getNamedType(types.getType())?.name === 'JSON') isFound = true
      },
    }),
  )
  return isFound
}
