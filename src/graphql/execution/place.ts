// Where something failed: in the answer its path, in the document its lines and columns.
import { GraphQLError, type Location, type Source, type SourceLocation } from 'graphql'
import type { FieldFailure, Path } from './collected-errors.ts'

/** Where in the document and in the answer something failed (specification, section 7.1.6); undefined where that is nowhere. */
export interface Place {
  readonly locations: readonly SourceLocation[] | undefined
  readonly path: readonly (string | number)[] | undefined
}

/** An error of GraphQL may know better than its field: which argument it is. */
export function placeOf({ thrown, nodes, path }: FieldFailure): Place {
  const known = thrown instanceof GraphQLError ? thrown.locations : undefined
  return {
    locations: known ?? nodes.flatMap(({ loc }) => (loc ? locationOf(loc) : [])),
    path: keysOf(path),
  }
}

function keysOf(path: Path | null): readonly (string | number)[] {
  const keys: (string | number)[] = []
  for (let step = path; step !== null; step = step.parent) keys.push(step.key)
  return keys.reverse()
}

/** Where the lines of a text begin. Looking for them takes time by all of the text, and a document may have a thousand places. */
const lineStarts = new WeakMap<Source, readonly number[]>()

function lineStartsOf(source: Source): readonly number[] {
  const known = lineStarts.get(source)
  if (known) return known
  // The line terminators of the specification (section 2.1.3).
  const starts = [0, ...Array.from(source.body.matchAll(/\r\n|[\n\r]/g), ({ 0: end, index }) => index + end.length)]
  lineStarts.set(source, starts)
  return starts
}

function locationOf({ source, start }: Location): SourceLocation {
  const starts = lineStartsOf(source)
  let [line, end] = [0, starts.length]
  while (end - line > 1) {
    const middle = (line + end) >> 1
    if ((starts[middle] ?? 0) <= start) line = middle
    else end = middle
  }
  return { line: line + 1, column: start + 1 - (starts[line] ?? 0) }
}
