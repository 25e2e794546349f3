// Negotiates the media type of a response from those that the endpoint offers (RFC 9110 section 12.5.1).
import { readWeights, rememberHeaders } from './weights.ts'

/** Returns null when the client accepts none of the offered types. */
export type NegotiateMediaType<T extends string> = (accept: string | undefined) => T | null

interface Candidate<T extends string> {
  readonly type: T
  readonly weight: number
  /** 2 for the type itself, 1 for `type/*`, 0 for any type. */
  readonly specificity: number
  /** Index of its range in the header. */
  readonly place: number
}

/**
 * `offers` are media types without parameters, in lower case. A client that does not say gets the first one. The higher
 * weight wins, then the more specific range, then the order of the header, then the order of the offers.
 */
export function createMediaTypeNegotiator<T extends string>(offers: readonly [T, ...T[]]): NegotiateMediaType<T> {
  const negotiate = rememberHeaders((header: string): { readonly type: T | null } => {
    const ranges = readWeights(header)
    const candidates = offers.flatMap((type) => {
      const best = ranges
        .map(({ name, weight }, place) => ({ type, weight, place, specificity: specificityOf(name, type) }))
        .filter(({ specificity }) => specificity >= 0)
        .toSorted((a, b) => b.specificity - a.specificity)
        .at(0)
      return best && best.weight > 0 ? best : []
    })
    return { type: candidates.toSorted(compare).at(0)?.type ?? null }
  })
  return (accept) => (accept === undefined || accept === '' || accept === '*/*' ? offers[0] : negotiate(accept).type)
}

/** A bare `*` is not in the specification; clients that send it mean any type. */
function specificityOf(range: string, type: string): number {
  if (range === type) return 2
  if (range === `${type.slice(0, type.indexOf('/'))}/*`) return 1
  return range === '*/*' || range === '*' ? 0 : -1
}

function compare(a: Candidate<string>, b: Candidate<string>): number {
  return b.weight - a.weight || b.specificity - a.specificity || (a.specificity === 2 ? a.place - b.place : 0)
}
