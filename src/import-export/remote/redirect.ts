// Words redirects for messages. They are not followed: an email, a token or a key would be sent to whatever host they
// name.
import { redact } from '../../redact.ts'
import type { RemoteAnswer } from './answer.ts'

/** Statuses that name another location (RFC 9110 section 15.4). */
const REDIRECTS = new Set([301, 302, 303, 307, 308])

type Answer = Pick<RemoteAnswer, 'status' | 'headers'>

/** `answered 404`, and for a redirect its target. `path` is what was requested at `address`. */
export function statusInWords(answer: Answer, address: string, path: string): string {
  return redirectInWords(answer, address, path) ?? `answered ${answer.status}`
}

/** The status and the target of a redirect; null for any other response. */
export function redirectInWords(answer: Answer, address: string, path: string): string | null {
  const target = targetOf(answer, address, path)
  if (!target) return null
  const moved = movedTo(answer, address, path)
  // The query may contain a token, so it is left out.
  return moved === null
    ? `answered ${answer.status}: it points to ${redact(target.origin + target.pathname)}`
    : `answered ${answer.status}: it has moved to ${redact(moved)}; give that address`
}

/**
 * The new server address of a redirect to the same path; null for any other response, such as a redirect to a login
 * page.
 */
export function movedTo(answer: Answer, address: string, path: string): string | null {
  const target = targetOf(answer, address, path)
  const asked = path.split('?')[0] ?? ''
  if (!target?.pathname.endsWith(asked)) return null
  const moved = target.origin + target.pathname.slice(0, -asked.length)
  return moved === address ? null : moved
}

/** Null for any other response, and for a target that is not on the web. */
export function targetOf({ status, headers }: Answer, address: string, path: string): URL | null {
  const location = headers.get('location')
  if (!REDIRECTS.has(status) || location === null) return null
  const target = URL.parse(location, `${address}${path}`)
  return target && /^https?:$/.test(target.protocol) ? target : null
}
