// Extracts the parts of the OpenAPI document that the reference shows.

export interface ShownField {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  /** The enum values, if there are at most FEW_VALUES; empty otherwise. */
  readonly values: readonly string[]
}

export interface ShownFailure {
  readonly code: string
  readonly status: number
  readonly message: string
  /** What a caller who gets this failure can do. */
  readonly advice: string
}

export interface ShownOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly tag: string
  readonly twin: string
  readonly parameters: readonly (ShownField & { readonly in: string })[]
  readonly body: readonly ShownField[]
  readonly needsToken: boolean
  readonly answer: ShownAnswer | null
  /** The responses other than 200, one per status. */
  readonly failures: readonly { readonly status: string; readonly description: string }[]
}

export interface ShownAnswer {
  readonly description: string
  readonly isArray: boolean
  readonly fields: readonly ShownField[]
  readonly headers: readonly string[]
  readonly example: unknown
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly format?: string
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly 'x-failures'?: readonly ShownFailure[]
}

interface MediaType {
  readonly schema: Schema
  readonly example?: unknown
}

interface Answer {
  readonly description: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, MediaType>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly 'x-graphql-operation': string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description: string
    readonly schema: Schema
  }[]
  readonly security: readonly object[]
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<Record<string, Answer>>
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>> & {
      readonly Problem: Schema & { readonly examples?: readonly unknown[] }
    }
  }
}

type Schemas = OpenApi['components']['schemas']

export function shownOperations({ paths, components: { schemas } }: OpenApi): readonly ShownOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      summary: operation.summary,
      tag: operation.tags[0] ?? '',
      twin: operation['x-graphql-operation'],
      parameters: (operation.parameters ?? []).map(({ name, required, description, schema, in: place }) => ({
        name,
        type: typeText(schema, schemas),
        isRequired: required,
        description,
        values: valuesOf(schema, schemas),
        in: place,
      })),
      body: fieldsOf(Object.values(operation.requestBody?.content ?? {})[0]?.schema, schemas),
      needsToken: operation.security.length > 0,
      answer: shownAnswer(operation.responses['200'], schemas),
      failures: Object.entries(operation.responses)
        .filter(([status]) => status !== '200')
        .map(([status, { description }]) => ({ status, description })),
    })),
  )
}

function shownAnswer(answer: Answer | undefined, schemas: Schemas): ShownAnswer | null {
  if (!answer) return null
  const media = answer.content?.['application/json']
  return {
    description: answer.description,
    isArray: media?.schema.items !== undefined,
    fields: fieldsOf(media?.schema.items ?? media?.schema, schemas),
    headers: Object.keys(answer.headers ?? {}),
    example: media?.example,
  }
}

/** Resolves a `$ref`. */
function named(schema: Schema | undefined, schemas: Schemas): Schema | undefined {
  return schema?.$ref === undefined ? schema : schemas[schema.$ref.slice('#/components/schemas/'.length)]
}

export function fieldsOf(schema: Schema | undefined, schemas: Schemas): readonly ShownField[] {
  const { properties = {}, required = [] } = named(schema, schemas) ?? {}
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: typeText(property, schemas),
    isRequired: required.includes(name),
    description: property.description ?? '',
    values: valuesOf(property, schemas),
  }))
}

/** The error codes that the document lists, sorted by status. */
export function failuresOf({ components: { schemas } }: OpenApi): readonly ShownFailure[] {
  return (schemas.FailureCode?.['x-failures'] ?? []).toSorted((a, b) => a.status - b.status)
}

const FEW_VALUES = 8

function valuesOf(schema: Schema, schemas: Schemas): readonly string[] {
  const values = named(schema, schemas)?.enum ?? []
  return values.length > FEW_VALUES ? [] : values.map(String)
}

/** A field without a type is `any`, because stored documents belong to the user and may contain anything. */
function typeText(schema: Schema, schemas: Schemas): string {
  const { type, format, const: only, enum: values, items } = { ...named(schema, schemas), ...schema }
  if (only !== undefined) return JSON.stringify(only)
  if (type === undefined) return 'any'
  const names = [type].flat().map((name) => (name === 'array' && items ? arrayText(typeText(items, schemas)) : name))
  const text = names.join(' or ')
  if (values !== undefined && values.length > FEW_VALUES) return `${text}, one of ${values.length}`
  return format === undefined ? text : `${text} (${format})`
}

function arrayText(item: string): string {
  return item.includes(' or ') ? `array of (${item})` : `array of ${item}`
}
