// GET /schema.graphql: the schema as it was written, descriptions and directives included, for code generators.
import { createConstantDocument } from '../../http/caching/constant-document.ts'
import type { Endpoint } from '../../http/handler.ts'
import { readSchemaText } from '../schema.ts'
import type { GraphQLOptions } from './options.ts'

/** The text is in every copy of the program, so that only `nobody` hides it. */
export function createSchemaDocuments({ introspection }: GraphQLOptions): readonly Endpoint[] {
  if (introspection === 'nobody') return []
  return [createConstantDocument('/schema.graphql', 'text/plain; charset=utf-8', readSchemaText())]
}
