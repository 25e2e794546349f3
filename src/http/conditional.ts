// Conditional requests, RFC 9110 section 13.1.2.

/** Whether an `If-None-Match` header names this entity tag; the comparison is the weak one, as for every GET. */
export function matchesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === entityTag) return true
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((tag) => tag.replace(/^W\//, '') === entityTag)
}
