// Content codings (RFC 9110 section 8.4.1): which ones there are, and which one a request is answered in.
import { GatewayError } from '../../errors.ts'

/** Best first, where a client likes them equally: zstd and br make about the same of JSON, zstd in less time. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const

export type Coding = (typeof CODINGS)[number]

/** What an `Accept-Encoding` header allows. */
export interface AcceptedCodings {
  /** To be used where it pays; null where the answer has to go out, or is liked best, as it is. */
  readonly coding: Coding | null
  /** Whether it may also go out as it is. */
  readonly isIdentityAccepted: boolean
  /** Everything a client would take, `identity` included: what it may hold a copy of. */
  readonly all: ReadonlySet<Coding | 'identity'>
}

/** RFC 9110 section 8.4.1.3. */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }
/** Clients of one kind send one header: what was read is remembered for as many kinds. */
const MAX_REMEMBERED = 100
const MAX_REMEMBERED_LENGTH = 200

export type ReadAcceptEncoding = (header: string | undefined) => AcceptedCodings

export function createAcceptEncodingReader(): ReadAcceptEncoding {
  const remembered = new Map<string, AcceptedCodings>()
  return (header) => {
    if (header === undefined) return ANYTHING
    const known = remembered.get(header)
    if (known) return known
    const read = readAcceptEncoding(header)
    if (remembered.size < MAX_REMEMBERED && header.length <= MAX_REMEMBERED_LENGTH) remembered.set(header, read)
    return read
  }
}

/** A client that does not say takes anything (RFC 9110 section 12.5.3), and is answered as it has always been. */
const ANYTHING: AcceptedCodings = { coding: null, isIdentityAccepted: true, all: new Set([...CODINGS, 'identity']) }

function readAcceptEncoding(header: string): AcceptedCodings {
  const weights = weightsIn(header)
  const others = weights.get('*')
  const weightOf = (coding: Coding) => weights.get(coding) ?? others ?? 0
  // Acceptable unless it is ruled out, and then liked less than whatever is named.
  const identity = weights.get('identity') ?? others
  const isIdentityAccepted = identity !== 0
  const accepted = CODINGS.filter((coding) => weightOf(coding) > 0)
  const [best] = accepted.toSorted((a, b) => weightOf(b) - weightOf(a))
  const coding = best !== undefined && weightOf(best) >= (identity ?? 0) ? best : null
  return {
    coding,
    isIdentityAccepted,
    all: new Set([...accepted, ...(isIdentityAccepted ? ['identity' as const] : [])]),
  }
}

/** The weight of each coding that is named; what cannot be understood is left out. */
function weightsIn(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const item of header.toLowerCase().split(',')) {
    const match = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/.exec(item)
    const name = match?.[1]
    if (name !== undefined) weights.set(ALIASES[name] ?? name, Number(match?.[2] ?? 1))
  }
  return weights
}

/** Throws `NOT_ACCEPTABLE` where a client takes nothing this gateway has. */
export function requireAcceptableCoding({ coding, isIdentityAccepted }: AcceptedCodings): void {
  if (coding !== null || isIdentityAccepted) return
  throw new GatewayError('NOT_ACCEPTABLE', { message: 'None of the content codings you accept can be answered.' })
}

/** The tag of the same uncoded. */
export function uncodedEntityTag(entityTag: string, coding: string | undefined): string {
  return coding === undefined ? entityTag : `${entityTag.slice(0, -coding.length - 2)}"`
}

/** Other bytes, another tag (RFC 9110 section 8.8.3.3): that of the coded form of what `entityTag` names. */
export function codedEntityTag(entityTag: string, coding: Coding): string {
  return `${entityTag.slice(0, -1)}-${coding}"`
}
