// A document that may be executed: parsed within limits, valid, its operations at hand.
import { type DocumentNode, type FragmentDefinitionNode, Kind, type OperationDefinitionNode } from 'graphql'

/** For the plans of a document that is kept. */
export interface PlanRoom {
  readonly maxBytes: number
  /** To be told each time that they take more or less. */
  readonly onResize: (byteLength: number) => void
}

export interface PreparedOperation {
  readonly definition: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** One for all operations of the document; null where no plan is to be kept. */
  readonly room: PlanRoom | null
}

export interface PreparedDocument {
  /** The operation of that name, or the only one when no name is given; null when there is none such. */
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
