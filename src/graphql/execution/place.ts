// Computes where a field failed: its path in the response and its locations in the document.
import { GraphQLError, type Location, type Source, type SourceLocation } from 'graphql'
import type { FieldFailure, Path } from './collected-errors.ts'

/** Members of an error (specification, section 7.1.6); undefined if the error lacks the member. */
export interface Place {
  readonly locations: readonly SourceLocation[] | undefined
  readonly path: readonly (string | number)[] | undefined
}

/** A `GraphQLError` may have a more precise location than its field, such as that of an argument. */
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

/**
 * Offsets of line starts per document. Cached, because finding them scans the whole document, and a response may have a
 * thousand locations.
 */
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
