// W3C Trace Context: what a caller says of the trace that its request is part of.
import { randomBytes } from 'node:crypto'

export interface ParentSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** Version 00, and what a later version must begin with (sections 3.2 and 4). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?=$|-)/

/** Null for what is not well formed: then a trace begins here. */
export function readTraceparent(value: string | undefined): ParentSpan | null {
  const [all, version, traceId, spanId, flags] = TRACEPARENT.exec(value ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  if (version === '00' && all !== value) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

const POOL_BYTES = 4_096

/** Random ids of so many bytes, as hexadecimal digits. The system is asked for many at a time. */
export function createIds(byteLength: number): () => string {
  let pool = ''
  let at = 0
  return () => {
    if (at + byteLength * 2 > pool.length) {
      pool = randomBytes(POOL_BYTES).toString('hex')
      at = 0
    }
    at += byteLength * 2
    return pool.slice(at - byteLength * 2, at)
  }
}
