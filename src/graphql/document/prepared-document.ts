// A document that may be executed: parsed within limits and valid, with its operations by name.
import { type DocumentNode, type FragmentDefinitionNode, Kind, type OperationDefinitionNode } from 'graphql'

/** Memory for the plans of a cached document. */
export interface PlanRoom {
  readonly maxBytes: number
  /** Called with the total size of the plans each time it changes. */
  readonly onResize: (byteLength: number) => void
}

export interface PreparedOperation {
  readonly definition: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Shared by all operations of the document; null if plans are not cached. */
  readonly room: PlanRoom | null
}

export interface PreparedDocument {
  /** The operation of that name, or the only operation if no name is given; null if there is no such operation. */
  readonly operation: (name: string | undefined) => PreparedOperation | null
}

export function toPreparedDocument(document: DocumentNode, room: PlanRoom | null): PreparedDocument {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations = new Map<string | undefined, PreparedOperation>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    if (definition.kind === Kind.OPERATION_DEFINITION)
      operations.set(definition.name?.value, { definition, fragments, room })
  }
  const [only] = operations.values()

  return {
    operation(name) {
      if (name !== undefined) return operations.get(name) ?? null
      return operations.size === 1 ? (only ?? null) : null
    },
  }
}
