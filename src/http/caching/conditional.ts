// Conditional requests, RFC 9110 section 13.1.2.
import { type AcceptedCodings, CODINGS, codedEntityTag } from '../negotiation/content-coding.ts'
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

/** Weakly too. A tag begins and ends with a quote and has none within, so that no part of a list looks like one. */
function names(ifNoneMatch: string, entityTag: string): boolean {
  return ifNoneMatch.includes(entityTag)
}
