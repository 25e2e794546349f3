// Fetches a small text from an identity provider: its keys, or its discovery document.
import { readAtMost, sendRequest } from '../../../../send-request.ts'
import { isLoopbackHost } from '../../loopback.ts'

const TIMEOUT_MS = 5_000
/** Maximum length of what is read, from a URL or a file. */
export const MAX_BYTES = 262_144
/** Statuses that mean that nothing is there. Servers that store files like Amazon S3 answer 403. */
const NOT_THERE: ReadonlySet<number> = new Set([403, 404, 410])

/** The server was reached, and has nothing at this URL. */
export class NotThereError extends Error {
  override readonly name = 'NotThereError'
}

/** Whether keys may be fetched from this URL: over TLS or from this machine, and without a user and a password. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username + url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.host))
}

/**
 * Throws `NotThereError` and other errors. Follows no redirects, because keys must come from where the operator said.
 */
export async function fetchText(url: string): Promise<string> {
  const response = await sendRequest(url, {
    method: 'GET',
    headers: { accept: 'application/json, */*' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    const reason = `${new URL(url).host} answered ${response.status}`
    throw NOT_THERE.has(response.status) ? new NotThereError(reason) : new Error(reason)
  }
  const body = await readAtMost(response, MAX_BYTES)
  if (body === null) throw new Error(`${new URL(url).host} answered more than ${MAX_BYTES} bytes`)
  return body.toString('utf8')
}
