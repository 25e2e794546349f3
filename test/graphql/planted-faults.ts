// Faults of the engine as somebody might make them: each is planted alone in a copy of the sources, and the fuzz run
// must find it.

export interface PlantedFault {
  readonly name: string
  /** A path within `src/`. */
  readonly file: string
  /** Occurs in the file exactly once; a test checks that. */
  readonly find: string
  readonly replacement: string
}

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'an edge carries the cursor of the first one',
    file: 'resolvers/pagination/connection-fields.ts',
    find: 'nodes.map((node) => ({ cursor: cursorOf(node), node }))',
    replacement: 'nodes.map((node) => ({ cursor: cursorOf(nodes[0] ?? node), node }))',
  },
  {
    name: 'a number is printed again where its digits should stand',
    file: 'resolvers/documents/document-fields.ts',
    find: 'return INTEGER.test(written) ?',
    replacement:
      'written = INTEGER.test(written) ? String(Number(written)) : written\n  return INTEGER.test(written) ?',
  },
  {
    name: 'a list of tags with something else in it is taken for one',
    file: 'json-text.ts',
    find: `    if (text.charCodeAt(next) !== QUOTE) return -1
    next = skipSpace(text, skipString(text, next))`,
    replacement: '    next = skipSpace(text, skipValue(text, next))',
  },
  {
    name: 'a fragment counts as visited though its spread was left out',
    file: 'graphql/execution/plan/collect-fields.ts',
    find: `    if (!isIncluded(spread, variables)) return
    const fragment = fragments.get(name)
    if (!fragment || !isOnType(schema, fragment, type) || visited.has(name)) return
    visited.add(name)`,
    replacement: `    if (visited.has(name)) return
    visited.add(name)
    const fragment = fragments.get(name)
    if (!isIncluded(spread, variables) || !fragment || !isOnType(schema, fragment, type)) return`,
  },
  {
    name: 'fields that merge have the selection of the first alone',
    file: 'graphql/execution/complete.ts',
    find: 'return nodes.flatMap(({ selectionSet }) => selectionSet ?? [])',
    replacement: 'return nodes.slice(0, 1).flatMap(({ selectionSet }) => selectionSet ?? [])',
  },
  {
    name: 'a plan is used again whatever its conditions are',
    file: 'graphql/execution/plan/kept-plans.ts',
    find: 'const key = prefix + conditionsKey(names, variables)',
    replacement: 'const key = prefix + conditionsKey([], variables)',
  },
  {
    name: 'fields share the place of their arguments',
    file: 'graphql/execution/plan/plan.ts',
    find: 'nextSlot: () => slots++',
    replacement: 'nextSlot: () => slots',
  },
  {
    name: 'fields of one name in the response share the place of their arguments',
    file: 'graphql/execution/plan/plan.ts',
    find: 'const slot = nextSlot()',
    replacement: "const slot = '.' + (node.alias ?? node.name).value",
  },
  {
    name: 'an item that may not be null is null, and the list goes on',
    file: 'graphql/execution/complete.ts',
    find: 'const isItemNullable = !isNonNullType(type.ofType)',
    replacement: 'const isItemNullable = isListType(type)',
  },
  {
    name: 'an encoded text comes before the one that it follows',
    file: 'graphql/execution/text.ts',
    find: `      close()
      pieces ??= []
      pieces.push(text)`,
    replacement: `      pieces ??= []
      pieces.push(text)
      close()`,
  },
  {
    name: 'a reply is kept for the document, whatever the variables are',
    file: 'graphql/endpoint/answer.ts',
    find: 'source}`',
    replacement: 'requireGraphQLRequest(request.method, source).query}`',
  },
  {
    name: 'clients that do not say are answered in the newer media type',
    file: 'graphql/endpoint/media-types.ts',
    find: '[JSON_RESPONSE, GRAPHQL_RESPONSE] as const',
    replacement: '[GRAPHQL_RESPONSE, JSON_RESPONSE] as const',
  },
  {
    name: 'errors are in the order in which the reads came back',
    file: 'graphql/execution/collected-errors.ts',
    find: 'reported(collected.toSorted(compareCollected))',
    replacement: 'reported(collected)',
  },
  {
    name: 'an argument that is wrong has the location of its field',
    file: 'graphql/execution/place.ts',
    find: 'known ?? nodes.flatMap',
    replacement: 'nodes.flatMap',
  },
  {
    name: 'a carriage return does not end a line',
    file: 'graphql/execution/place.ts',
    find: String.raw`/\r\n|[\n\r]/g`,
    replacement: String.raw`/\n/g`,
  },
  {
    name: 'a malformed token hides the mistake before it',
    file: 'graphql/document/parse-document.ts',
    find: 'if (error instanceof GraphQLError) return null\n',
    replacement: '',
  },
]
