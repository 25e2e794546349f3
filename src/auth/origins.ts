// Parses the list of web origins (RFC 6454) that an operator trusts, and checks the origin of a request against it.

/** Requires at least two labels after the star: `https://*.com` would match half the world. */
const PATTERN = /^(https?):\/\/\*\.((?:[a-z0-9-]+\.)+[a-z0-9-]+)(:\d{1,5})?$/
const WEB = /^https?:\/\//
/** Origins of applications and extensions: `capacitor://localhost`, `chrome-extension://…`, `file://`. */
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]*$/

export interface OriginList {
  /** Whether `*` is listed. */
  readonly isAny: boolean
  /** Whether this origin is listed, by name or by pattern. Ignores `*`. */
  readonly includes: (origin: string) => boolean
}

/**
 * The origin in the form that browsers send: lower case, ASCII, no default port. `*`, `null`, `file://` and
 * `https://*.example.com` stay as they are. Null for a text that no browser ever sends.
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

/** `listed` are results of `normalOrigin`. */
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
