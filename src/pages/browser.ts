// Which requests are shown a page: those that name HTML and do not like JSON better (RFC 9110 section 12.5.1).
import { readWeights, rememberHeaders } from '../http/negotiation/weights.ts'

/** Of an `Accept` header. */
export type IsBrowser = (accept: string | undefined) => boolean

/** A range such as `*` names no HTML: clients that are no browsers send it too. */
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
