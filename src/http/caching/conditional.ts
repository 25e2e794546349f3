// Evaluates conditional requests: `If-Match` and `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2).
import { GatewayError } from '../../errors.ts'
import {
  type AcceptedCodings,
  CODINGS,
  codedEntityTag,
  requireAcceptableCoding,
} from '../negotiation/content-coding.ts'
import { withoutOptionalWhiteSpace } from '../negotiation/optional-white-space.ts'

/** Whether an `If-None-Match` header names this entity tag. Uses the weak comparison, as every GET does. */
export function matchesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return withoutOptionalWhiteSpace(ifNoneMatch) === '*' || names(ifNoneMatch, entityTag)
}

/**
 * Returns the tag in an `If-None-Match` header that names this state, either uncoded or in a coding that the request
 * accepts, since a client may hold either form. Returns null when there is none. `ownTag` is the tag of the response
 * that would be sent; `entityTag` is the tag of the same response uncoded.
 */
export function matchingEntityTag(
  ifNoneMatch: string | undefined,
  ownTag: string,
  entityTag: string,
  { all }: AcceptedCodings,
): string | null {
  if (ifNoneMatch === undefined) return null
  // When the response would be uncoded but the client does not accept that form, a match with its tag is not enough.
  const isOwnAccepted = ownTag !== entityTag || all.has('identity')
  if ((isOwnAccepted && names(ifNoneMatch, ownTag)) || withoutOptionalWhiteSpace(ifNoneMatch) === '*') return ownTag
  if (all.has('identity') && names(ifNoneMatch, entityTag)) return entityTag
  const coding = CODINGS.find((one) => all.has(one) && names(ifNoneMatch, codedEntityTag(entityTag, one)))
  return coding ? codedEntityTag(entityTag, coding) : null
}

/**
 * Throws `PRECONDITION_FAILED` when the request has an `If-Match` header that does not name this state, uncoded or in a
 * coding that the request accepts. Uses the strong comparison: a weak tag never matches. Runs before the
 * `If-None-Match` check (RFC 9110 section 13.2.2).
 */
export function requireMatch(
  ifMatch: string | undefined,
  ownTag: string,
  entityTag: string,
  accepted: AcceptedCodings,
): void {
  if (ifMatch === undefined) return
  // Without its opening quote, a weak tag matches nothing below.
  const strong = ifMatch.replaceAll('W/"', 'W/')
  if (matchingEntityTag(strong, ownTag, entityTag, accepted) !== null) return
  // A request that fails anyway ignores its conditions (RFC 9110 section 13.2.1).
  requireAcceptableCoding(accepted)
  throw new GatewayError('PRECONDITION_FAILED')
}

/**
 * Ignores the `W/` prefix (weak comparison). A substring search is enough: a tag starts and ends with a quote and
 * contains none, so no other part of a list looks like it.
 */
function names(ifNoneMatch: string, entityTag: string): boolean {
  return ifNoneMatch.includes(entityTag)
}
