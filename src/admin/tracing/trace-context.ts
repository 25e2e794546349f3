// Parses W3C Trace Context: what a caller says about the trace that its request is part of.

export interface ParentSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** Matches version 00, and the prefix that later versions must have (sections 3.2 and 4). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?=$|-)/

/** Returns null for a malformed header: a new trace then begins here. */
export function readTraceparent(value: string | undefined): ParentSpan | null {
  if (value === undefined) return null
  const [all, version, traceId, spanId, flags] = TRACEPARENT.exec(value) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  if (version === '00' && all !== value) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
