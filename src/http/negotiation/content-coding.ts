// Negotiates the content coding of a response (RFC 9110 section 8.4.1): the supported codings, and the one that a
// request gets.
import { GatewayError } from '../../errors.ts'
import { readWeights, rememberHeaders } from './weights.ts'

/** Best first, for clients that like them equally: zstd and br compress JSON about equally well, zstd in less time. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const

export type Coding = (typeof CODINGS)[number]

/** What an `Accept-Encoding` header allows. */
export interface AcceptedCodings {
  /** The coding to use where it pays; null when the response must be sent, or is preferred, uncoded. */
  readonly coding: Coding | null
  /** Whether the response may also be sent uncoded. */
  readonly isIdentityAccepted: boolean
  /** Everything that the client accepts, `identity` included: the forms that it may hold a copy of. */
  readonly all: ReadonlySet<Coding | 'identity'>
}

/** The coding that `*` selects: gzip is the one that every client which sends `*` can decode. */
const ANY_CODING: Coding = 'gzip'

/** RFC 9110 section 8.4.1.3. */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }

export type ReadAcceptEncoding = (header: string | undefined) => AcceptedCodings

/** `offered` are the codings that the endpoint has, best first. */
export function createAcceptEncodingReader(offered: readonly Coding[] = CODINGS): ReadAcceptEncoding {
  const read = rememberHeaders((header: string) => readAcceptEncoding(header, offered))
  return (header) => (header === undefined ? ANYTHING : read(header))
}

/**
 * A client without the header accepts anything (RFC 9110 section 12.5.3) and gets uncoded responses, as it always has.
 */
const ANYTHING: AcceptedCodings = { coding: null, isIdentityAccepted: true, all: new Set([...CODINGS, 'identity']) }

function readAcceptEncoding(header: string, offered: readonly Coding[]): AcceptedCodings {
  const weights = new Map(readWeights(header).map(({ name, weight }) => [ALIASES[name] ?? name, weight]))
  const others = weights.get('*')
  const weightOf = (coding: Coding) => weights.get(coding) ?? (coding === ANY_CODING ? others : undefined) ?? 0
  // `identity` is acceptable unless it is ruled out. Without a weight it ranks below every named coding.
  const identity = weights.get('identity') ?? others
  const isIdentityAccepted = identity !== 0
  const accepted = offered.filter((coding) => weightOf(coding) > 0)
  const [best] = accepted.toSorted((a, b) => weightOf(b) - weightOf(a))
  const coding = best !== undefined && weightOf(best) >= (identity ?? 0) ? best : null
  return {
    coding,
    isIdentityAccepted,
    all: new Set([...accepted, ...(isIdentityAccepted ? ['identity' as const] : [])]),
  }
}

/** Throws `NOT_ACCEPTABLE` when the client accepts no form that the gateway can send. */
export function requireAcceptableCoding({ coding, isIdentityAccepted }: AcceptedCodings): void {
  if (coding !== null || isIdentityAccepted) return
  throw new GatewayError('NOT_ACCEPTABLE', {
    message: 'The answer is not available in any content coding that `Accept-Encoding` allows.',
  })
}

/** Returns the entity tag of the uncoded form. */
export function uncodedEntityTag(entityTag: string, coding: string | undefined): string {
  return coding === undefined ? entityTag : `${entityTag.slice(0, -coding.length - 2)}"`
}

/** Returns the entity tag of the coded form: it has other bytes, so it needs another tag (RFC 9110 section 8.8.3.3). */
export function codedEntityTag(entityTag: string, coding: Coding): string {
  return `${entityTag.slice(0, -1)}-${coding}"`
}
