// Builds the executable schema from schema.graphql, with a resolver for every field.
import { readFileSync } from 'node:fs'
import { makeExecutableSchema } from '@graphql-tools/schema'
import { buildSchema, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql'
import type { Context } from '../resolvers/context.ts'
import { resolvers } from '../resolvers/resolvers.ts'

const SCHEMA_FILE = new URL('../../schema.graphql', import.meta.url)

export function readSchemaText(): string {
  return readFileSync(SCHEMA_FILE, 'utf8')
}

/** Throws if a field has no resolver, or a resolver has no field. */
export function createSchema(): GraphQLSchema {
  const schema = makeExecutableSchema({
    // As text, it would also be merged with itself, checked against the rules of SDL and copied for the resolvers, which
    // takes twice as long again at each start.
    typeDefs: buildSchema(readSchemaText(), { assumeValidSDL: true }),
    resolvers,
    updateResolversInPlace: true,
    resolverValidationOptions: {
      requireResolversForAllFields: 'error',
      requireResolversToMatchSchema: 'error',
    },
  })
  unbindResolvers(schema)
  return schema
}

/** `makeExecutableSchema` binds every resolver, which loses the mark that `fromMember` sets on the function itself. */
function unbindResolvers(schema: GraphQLSchema): void {
  for (const [name, fields] of Object.entries(resolvers)) {
    const type = schema.getType(name)
    if (!isObjectType(type)) continue
    for (const [field, resolve] of Object.entries(fields)) {
      const definition = type.getFields()[field]
      if (definition) definition.resolve = resolve as GraphQLFieldResolver<unknown, Context>
    }
  }
}
