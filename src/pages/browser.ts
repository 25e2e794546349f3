// Detects browsers: requests that accept HTML and do not prefer JSON (RFC 9110 section 12.5.1).
import { readWeights, rememberHeaders } from '../http/negotiation/weights.ts'

/** `accept` is the value of an `Accept` header. */
export type IsBrowser = (accept: string | undefined) => boolean

/** A range such as `*` does not count as HTML: other clients send it too. */
export function createBrowserDetector(): IsBrowser {
  const prefersPage = rememberHeaders((accept: string): boolean => {
    const ranges = readWeights(accept)
    const weightOf = (isMeant: (name: string) => boolean) =>
      Math.max(0, ...ranges.flatMap(({ name, weight }) => (isMeant(name) ? weight : [])))
    const html = weightOf((name) => name === 'text/html')
    return html > 0 && html >= weightOf((name) => name.endsWith('/json') || name.endsWith('+json'))
  })
  return (accept) => accept !== undefined && prefersPage(accept)
}
