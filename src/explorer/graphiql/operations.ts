// What a document would run: which of its operations to send, and whether it only reads.
import { Kind, type OperationDefinitionNode, OperationTypeNode, parse } from 'graphql'

/** Undefined when the document has one operation only: that needs no name, and a stale one would be refused. The editor learns of another name a moment after it is there. */
export function operationToRun(query: string, name: string | null | undefined): string | undefined {
  return name == null || operationsOf(query).length === 1 ? undefined : name
}

/** Whether there is something to run, and none of it changes anything. */
export function isReading(query: string): boolean {
  const operations = operationsOf(query)
  return operations.length > 0 && operations.every(({ operation }) => operation === OperationTypeNode.QUERY)
}

/** None while the document has a mistake. */
function operationsOf(query: string): readonly OperationDefinitionNode[] {
  try {
    return parse(query).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  } catch {
    return []
  }
}
