// Queries that were parsed, validated and compiled before, by their operation name and text.
import type { ExecutionResult } from 'graphql'
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  specifiedRules,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Context } from '../../resolvers/context.ts'
import { parseDocument } from '../document/parse-document.ts'
import { singleSessionMutation } from '../document/single-session-mutation-rule.ts'

/** A compiled query holds some 2 KB for each of its fields. */
const MAX_FIELDS = 1_000
const MAX_CACHED_FIELDS = 20_000
/** A longer text is not kept: a client that sends a new one each time would fill the memory. */
const MAX_TEXT_LENGTH = 16_384
const RULES = [...specifiedRules, singleSessionMutation]

export interface CompiledQuery {
  /** How many fields it selects, with every fragment spread expanded. */
  readonly fieldCount: number
  /** Whether a field of the scalar `JSON` is asked for: without one the answer is plain data. */
  readonly hasRawJson: boolean
  /** Null when the query is not answered whole: then an executor has to say what went wrong. */
  readonly answer: (context: Context, variables: Readonly<Record<string, unknown>>) => Promise<ExecutionResult['data']>
}

export interface CompiledQueries {
  /** The compiled query, null for whatever is not one valid query operation of a moderate size. For signed-in callers only. */
  readonly get: (text: string, operationName: string | undefined) => CompiledQuery | null
}

export function createCompiledQueries(schema: GraphQLSchema): CompiledQueries {
  /** Least recently used first. */
  const queries = new Map<string, CompiledQuery>()
  let cachedFields = 0

  function compile(text: string, operationName: string | undefined): CompiledQuery | null {
    const document = validDocument(schema, text)
    const operation = document && getOperationAST(document, operationName)
    if (!document || operation?.operation !== OperationTypeNode.QUERY) return null
    // graphql-jit writes code for every path, so fragments in fragments multiply.
    const fieldCount = expandedFieldCount(document, operation.selectionSet)
    if (fieldCount > MAX_FIELDS) return null
    const compiled = compileQuery(schema, document, operationName)
    if (!isCompiledQuery(compiled)) return null
    return {
      fieldCount,
      hasRawJson: asksForRawJson(schema, document),
      async answer(context, variables) {
        const { data, errors } = await compiled.query({}, context, variables)
        return errors ? null : data
      },
    }
  }

  function keep(key: string, compiled: CompiledQuery): void {
    queries.set(key, compiled)
    cachedFields += compiled.fieldCount
    for (const [oldest, { fieldCount }] of queries) {
      if (cachedFields <= MAX_CACHED_FIELDS) return
      queries.delete(oldest)
      cachedFields -= fieldCount
    }
  }

  return {
    get(text, operationName) {
      const key = JSON.stringify([operationName, text])
      const known = queries.get(key)
      if (known) {
        queries.delete(key)
        queries.set(key, known)
        return known
      }
      const compiled = compile(text, operationName)
      if (compiled && key.length <= MAX_TEXT_LENGTH) keep(key, compiled)
      return compiled
    },
  }
}

/** Linear in the length of a valid document: each fragment is counted once. */
function expandedFieldCount(document: DocumentNode, operation: SelectionSetNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const counts = new Map<string, number>()

  function countFragment(name: string): number {
    const known = counts.get(name)
    if (known !== undefined) return known
    const count = countFields(fragments.get(name)?.selectionSet)
    counts.set(name, count)
    return count
  }

  function countFields(selectionSet: SelectionSetNode | undefined): number {
    let count = 0
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) count += countFragment(selection.name.value)
      else count += (selection.kind === Kind.FIELD ? 1 : 0) + countFields(selection.selectionSet)
    }
    return count
  }

  return countFields(operation)
}

function validDocument(schema: GraphQLSchema, text: string): DocumentNode | null {
  try {
    const document = parseDocument(text)
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
