// Faults of the engine as somebody might make them: in a copy of the sources each is planted alone, and the fuzz must find it.

export interface PlantedFault {
  readonly name: string
  /** Within `src/`. */
  readonly file: string
  /** Stands in the file exactly once. */
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
    find: 'return INTEGER.test(written) ? written : null',
    replacement: 'return INTEGER.test(written) ? String(value) : null',
  },
  {
    name: 'a list of tags with something else in it is taken for one',
    file: 'resolvers/documents/document-fields.ts',
    find: 'value.every((item)',
    replacement: 'value.some((item)',
  },
]
