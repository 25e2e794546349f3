// Conditional requests, RFC 9110 sections 13.1.1 and 13.1.2.
import { GatewayError } from '../../errors.ts'
import {
  type AcceptedCodings,
  CODINGS,
  codedEntityTag,
  requireAcceptableCoding,
} from '../negotiation/content-coding.ts'
import { withoutOptionalWhiteSpace } from '../negotiation/optional-white-space.ts'

/** Whether an `If-None-Match` header names this entity tag; the comparison is the weak one, as for every GET. */
export function matchesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return withoutOptionalWhiteSpace(ifNoneMatch) === '*' || names(ifNoneMatch, entityTag)
}

/**
 * The tag in an `If-None-Match` header that names this state: as it is, or in a coding that the request accepts; a client
 * may hold either. Null when there is none. `ownTag` is that of what would be answered, `entityTag` of the same uncoded.
 */
export function matchingEntityTag(
  ifNoneMatch: string | undefined,
  ownTag: string,
  entityTag: string,
  { all }: AcceptedCodings,
): string | null {
  if (ifNoneMatch === undefined) return null
  // Of what would be answered uncoded, and of which the client wants another form, a tag is not enough.
  const isOwnAccepted = ownTag !== entityTag || all.has('identity')
  if ((isOwnAccepted && names(ifNoneMatch, ownTag)) || withoutOptionalWhiteSpace(ifNoneMatch) === '*') return ownTag
  if (all.has('identity') && names(ifNoneMatch, entityTag)) return entityTag
  const coding = CODINGS.find((one) => all.has(one) && names(ifNoneMatch, codedEntityTag(entityTag, one)))
  return coding ? codedEntityTag(entityTag, coding) : null
}

/**
 * Throws `PRECONDITION_FAILED` unless an `If-Match` header, where there is one, names this state, as it is or in a coding that the request
 * accepts. The comparison is the strong one: a weak tag names nothing. Looked at before `If-None-Match` (RFC 9110 section 13.2.2).
 */
export function requireMatch(
  ifMatch: string | undefined,
  ownTag: string,
  entityTag: string,
  accepted: AcceptedCodings,
): void {
  if (ifMatch === undefined) return
  // Without its first quote a weak tag is none.
  const strong = ifMatch.replaceAll('W/"', 'W/')
  if (matchingEntityTag(strong, ownTag, entityTag, accepted) !== null) return
  // Of a request that fails anyhow, no condition is looked at (section 13.2.1).
  requireAcceptableCoding(accepted)
  throw new GatewayError('PRECONDITION_FAILED')
}

/** Weakly too. A tag begins and ends with a quote and has none within, so that no part of a list looks like one. */
function names(ifNoneMatch: string, entityTag: string): boolean {
  return ifNoneMatch.includes(entityTag)
}
