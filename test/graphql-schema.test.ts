// The executable schema, as the engine relies on it.
import { isObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { GRAPHQL_OPTIONS } from '../src/cli/options/graphql-options.ts'
import { createSchema } from '../src/graphql/schema.ts'
import { memberOf } from '../src/resolvers/documents/member-field.ts'

test('every typed field of a stored document is taken from its text, and no other field is', () => {
  const schema = createSchema()
  const marked = ['Project', 'Template', 'UiLibrary', 'ExportElement', 'Export', 'User'].map((name) => {
    const type = schema.getType(name)
    const fields = isObjectType(type) ? Object.values(type.getFields()) : []
    return [name, fields.filter(({ resolve }) => memberOf(resolve) !== null).map((field) => field.name)]
  })
  const item = ['documentId', 'name', 'description', 'framework']
  expect(Object.fromEntries(marked)).toEqual({
    Project: [...item, 'tags', 'version', 'createdAt', 'updatedAt'],
    Template: [...item, 'kind', 'type', 'tags', 'version', 'createdAt', 'updatedAt'],
    UiLibrary: [...item, 'kind', 'type', 'tags', 'version', 'createdAt', 'updatedAt'],
    ExportElement: ['documentId', 'name', 'kind', 'type', 'path', 'content'],
    Export: [],
    User: [],
  })
})

test('the description of Query names the default of every limit that counts parts of a document or an answer', () => {
  const text = createSchema().getQueryType()?.description?.replaceAll('\n', ' ') ?? ''
  const { graphqlMaxDepth, graphqlMaxAliases, graphqlMaxDirectives, graphqlMaxRootFields, graphqlMaxFields } =
    GRAPHQL_OPTIONS
  for (const [option, unit] of [
    [graphqlMaxDepth, 'levels of fields'],
    [graphqlMaxAliases, 'aliases'],
    [graphqlMaxDirectives, 'directives'],
    [graphqlMaxRootFields, 'fields at its root'],
    [graphqlMaxFields, 'with its fragments'],
    [GRAPHQL_OPTIONS.graphqlMaxObjects, 'objects'],
  ] as const) {
    expect(text).toContain(`${Number(option.default).toLocaleString('en')} ${unit}`)
  }
})
