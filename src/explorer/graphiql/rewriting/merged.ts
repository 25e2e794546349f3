// Writes the fields of a query's fragments in place of their spreads, as GraphiQL does, but only if nothing is lost.
import { mergeAst } from '@graphiql/toolkit'
import { type DocumentNode, type GraphQLSchema, Kind, parse, print, visit } from 'graphql'
import { hasComments } from './prettified.ts'

/** Throws an Error with a sentence if something would be lost, and a GraphQLError while the query has a syntax error. */
export function merged(query: string, schema: GraphQLSchema | null | undefined): string {
  const document = parse(query)
  const loss = hasComments(query) ? 'the comments of the query' : lossOf(document)
  if (loss !== null) throw new Error(`The fragments were not merged: ${loss} would be lost.`)
  try {
    return print(mergeAst(document, schema))
  } catch (cause) {
    throw new Error('The fragments were not merged: one of them may contain itself.', { cause })
  }
}

function lossOf(document: DocumentNode): string | null {
  const unused = new Set<string>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) unused.add(definition.name.value)
  }
  let hasDirectives = false
  visit(document, {
    [Kind.FRAGMENT_SPREAD]({ name, directives = [] }) {
      unused.delete(name.value)
      hasDirectives ||= directives.length > 0
    },
  })
  if (hasDirectives) return 'a directive where a fragment is used, such as @include,'
  const [name] = unused
  return name === undefined ? null : `the fragment ${name}, which is not used,`
}
