// Where a field failed: its path in the response, its locations in the document.
import { GraphQLError, type Location, type Source, type SourceLocation } from 'graphql'
import type { FieldFailure, Path } from './collected-errors.ts'

/** Members of an error (specification, section 7.1.6); undefined for one that it does not have. */
export interface Place {
  readonly locations: readonly SourceLocation[] | undefined
  readonly path: readonly (string | number)[] | undefined
}

/** A `GraphQLError` may have a location that says more than that of its field: the one of an argument. */
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

/** Offsets at which the lines of a document begin. Kept: they are found by a scan of the whole document, and a response may have a thousand locations in it. */
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
