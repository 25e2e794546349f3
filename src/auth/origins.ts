// Origins of web pages (RFC 6454) as an operator lists them, and whether one of a request is among them.

/** Two labels at least after the star: `https://*.com` would be half of the world. */
const PATTERN = /^(https?):\/\/\*\.((?:[a-z0-9-]+\.)+[a-z0-9-]+)(:\d{1,5})?$/
const WEB = /^https?:\/\//
/** Of applications and extensions: `capacitor://localhost`, `chrome-extension://…`, `file://`. */
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]*$/

export interface OriginList {
  /** Whether `*` is listed. */
  readonly isAny: boolean
  /** Whether a page of this origin is listed, by name or by pattern; `*` aside. */
  readonly includes: (origin: string) => boolean
}

/**
 * The form in which browsers send it: lower case, ASCII, no default port. `*`, `null`, `file://` and `https://*.example.com` are
 * themselves. Null for what no browser ever sends.
 */
export function normalOrigin(text: string): string | null {
  const lower = text.toLowerCase()
  if (lower === '*' || lower === 'null') return lower
  if (!WEB.test(lower)) return OTHER_SCHEME.test(lower) ? lower : null
  const pattern = PATTERN.exec(lower)
  if (pattern) {
    const [, scheme = '', domain = '', port = ''] = pattern
    const base = webOrigin(`${scheme}://${domain}${port}`)
    return base === null ? null : base.replace('://', '://*.')
  }
  return lower.includes('*') ? null : webOrigin(lower)
}

function webOrigin(text: string): string | null {
  const url = URL.parse(text)
  const isBare = url !== null && url.pathname === '/' && url.search + url.hash + url.username + url.password === ''
  return isBare ? url.origin : null
}

/** `listed` are normal origins. */
export function createOriginList(listed: readonly string[]): OriginList {
  const hasStar = (origin: string) => origin.includes('*')
  const exact = new Set(listed.filter((origin) => !hasStar(origin)))
  const patterns = listed.filter(hasStar).map((origin) => {
    const [scheme = '', domain = ''] = origin.split('*')
    return { scheme, domain }
  })
  return {
    isAny: listed.includes('*'),
    includes: (origin) =>
      exact.has(origin) ||
      patterns.some(
        ({ scheme, domain }) =>
          origin.startsWith(scheme) &&
          origin.endsWith(domain) &&
          /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(origin.slice(scheme.length, -domain.length)),
      ),
  }
}
