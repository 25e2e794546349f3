// Decides which operation of a document to send, and whether the document only reads.
import { Kind, type OperationDefinitionNode, OperationTypeNode, parse } from 'graphql'

/**
 * Returns undefined when the document has exactly one operation: it needs no name, and the server would refuse a stale
 * one. A name may be stale because the editor learns of a renamed operation with a delay.
 */
export function operationToRun(query: string, name: string | null | undefined): string | undefined {
  return name == null || operationsOf(query).length === 1 ? undefined : name
}

/**
 * Returns the operation to choose in a document with several: the one with this name, or else the first. Returns null
 * for any other document, because it leaves no choice.
 */
export function operationToSelect(query: string, name: string | null): string | null {
  const names = operationsOf(query).map((operation) => operation.name?.value ?? null)
  if (names.length < 2) return null
  return names.find((one) => one === name) ?? names[0] ?? null
}

/** Whether the document has operations and all of them are queries. */
export function isReading(query: string): boolean {
  const operations = operationsOf(query)
  return operations.length > 0 && operations.every(({ operation }) => operation === OperationTypeNode.QUERY)
}

/** Returns an empty list while the document has a syntax error. */
function operationsOf(query: string): readonly OperationDefinitionNode[] {
  try {
    return parse(query).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  } catch {
    return []
  }
}
