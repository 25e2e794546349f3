// Sends the first page's requests as soon as the user is signed in, before the code of the screen is loaded.
import type { ExplorerData } from '../../pages/explorer-config.ts'
import type { Answer } from '../answer/answer.ts'
import type { Session } from '../sign-in/session/session.ts'
import { type RowRequest, type Side, sendSide } from './requests.ts'
import { isRunByItself, readState, requestOf } from './rosetta-state.ts'

export interface FirstRun {
  /**
   * Returns the answer of a request that was already sent, once, or null when the caller must send it. `signal` aborts
   * the request.
   */
  readonly take: (side: Side, request: RowRequest, signal: AbortSignal) => Promise<Answer> | null
}

const SIDES: readonly Side[] = ['rest', 'graphql']
const PARTS = ['route', 'value', 'query', 'variables'] as const

/**
 * Must be called before `session` starts. It sends nothing when another page is open, when the start signs nobody in,
 * or when the person has to choose a value first.
 */
export function prepareFirstRun({ basePath, routes }: ExplorerData, session: Session): FirstRun {
  const answers = new Map<Side, { readonly answer: Promise<Answer>; readonly sending: AbortController }>()
  let sent: { readonly email: string; readonly request: RowRequest } | null = null
  const stop = session.subscribe(() => {
    const { phase, email } = session.state()
    if (phase === 'starting') return
    stop()
    const state = location.pathname === `${basePath}/` ? readState(location, routes) : null
    if (phase !== 'signed-in' || email === null || state === null) return
    const request = requestOf(state, email, '')
    const isChosen = state.route.parameter === null || state.value !== null
    if (!isChosen || !isRunByItself(request)) return
    sent = { email, request }
    for (const side of SIDES) {
      const sending = new AbortController()
      answers.set(side, { answer: sendSide(side, request, session, sending.signal), sending })
    }
  })
  return {
    take(side, request, signal) {
      const begun = answers.get(side)
      answers.delete(side)
      const isSameRequest =
        sent?.email === session.state().email && PARTS.every((part) => sent?.request[part] === request[part])
      if (begun === undefined) return null
      if (!isSameRequest) {
        begun.answer.catch(() => null)
        begun.sending.abort()
        return null
      }
      signal.addEventListener('abort', () => begun.sending.abort(), { once: true })
      return begun.answer
    },
  }
}
