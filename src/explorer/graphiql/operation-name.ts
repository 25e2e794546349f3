// Which operation of a document to send. The editor learns of another name a moment after it is there.
import { Kind, parse } from 'graphql'

/** Undefined when the document has one operation only: that needs no name, and a stale one would be refused. */
export function operationToRun(query: string, name: string | null | undefined): string | undefined {
  return name == null || hasOneOperation(query) ? undefined : name
}

function hasOneOperation(query: string): boolean {
  try {
    return parse(query).definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length === 1
  } catch {
    return false
  }
}
