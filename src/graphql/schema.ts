// The executable schema: schema.graphql, with a resolver for every field.
import { readFileSync } from 'node:fs'
import { makeExecutableSchema } from '@graphql-tools/schema'
import type { GraphQLSchema } from 'graphql'
import { resolvers } from '../resolvers/resolvers.ts'

const SCHEMA_FILE = new URL('../../schema.graphql', import.meta.url)

/** Throws when a field has no resolver, or a resolver no field. */
export function createSchema(): GraphQLSchema {
  return makeExecutableSchema({
    typeDefs: readFileSync(SCHEMA_FILE, 'utf8'),
    resolvers,
    resolverValidationOptions: {
      requireResolversForAllFields: 'error',
      requireResolversToMatchSchema: 'error',
    },
  })
}
