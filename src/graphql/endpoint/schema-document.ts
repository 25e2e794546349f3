// GET /schema.graphql: the schema as written, with descriptions and directives, for code generators.
import { createConstantDocument } from '../../http/caching/constant-document.ts'
import type { Endpoint } from '../../http/handler.ts'
import { readSchemaText } from '../schema.ts'
import type { GraphQLOptions } from './options.ts'

/** Only the setting `nobody` hides the text, because every copy of the program contains it anyway. */
export function createSchemaDocuments({ introspection }: GraphQLOptions): readonly Endpoint[] {
  if (introspection === 'nobody') return []
  return [createConstantDocument('/schema.graphql', 'text/plain; charset=utf-8', readSchemaText())]
}
