// The parts of the OpenAPI document that the reference shows.

export interface ShownOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly tag: string
  readonly twin: string
  readonly parameters: readonly Parameter[]
  readonly bodyExample: unknown
  readonly needsToken: boolean
  readonly responses: readonly ShownResponse[]
}

export interface ShownResponse {
  readonly status: string
  readonly description: string
  readonly properties: readonly (readonly [name: string, description: string])[]
  readonly example: unknown
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description: string
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
  readonly items?: Schema
}

interface MediaType {
  readonly schema: Schema
  readonly example?: unknown
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly 'x-graphql-operation': string
  readonly parameters?: readonly Parameter[]
  readonly security: readonly object[]
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, MediaType>> }>
  >
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export function shownOperations({ paths }: OpenApi): readonly ShownOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      summary: operation.summary,
      tag: operation.tags[0] ?? '',
      twin: operation['x-graphql-operation'],
      parameters: operation.parameters ?? [],
      bodyExample: Object.values(operation.requestBody?.content ?? {})[0]?.example,
      needsToken: operation.security.length > 0,
      responses: Object.entries(operation.responses).map(([status, { description, content }]) => {
        const media = content?.['application/json']
        const schema = media?.schema.items ?? media?.schema
        return {
          status,
          description,
          properties: Object.entries(schema?.properties ?? {}).map(
            ([name, property]) => [name, property.description ?? ''] as const,
          ),
          example: media?.example,
        }
      }),
    })),
  )
}
