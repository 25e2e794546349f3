// Content codings (RFC 9110 section 8.4.1): which ones there are, and which one a request is answered in.
import { GatewayError } from '../../errors.ts'
import { readWeights, rememberHeaders } from './weights.ts'

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

/** What `*` stands for: clients that send it were written when there was little else. */
const ANY_CODING: Coding = 'gzip'

/** RFC 9110 section 8.4.1.3. */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }
export type ReadAcceptEncoding = (header: string | undefined) => AcceptedCodings

export function createAcceptEncodingReader(): ReadAcceptEncoding {
  const read = rememberHeaders(readAcceptEncoding)
  return (header) => (header === undefined ? ANYTHING : read(header))
}

/** A client that does not say takes anything (RFC 9110 section 12.5.3), and is answered as it has always been. */
const ANYTHING: AcceptedCodings = { coding: null, isIdentityAccepted: true, all: new Set([...CODINGS, 'identity']) }

function readAcceptEncoding(header: string): AcceptedCodings {
  const weights = new Map(readWeights(header).map(({ name, weight }) => [ALIASES[name] ?? name, weight]))
  const others = weights.get('*')
  const weightOf = (coding: Coding) => weights.get(coding) ?? (coding === ANY_CODING ? others : undefined) ?? 0
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
