// The run that the first page begins with, sent as soon as somebody is signed in: none of it needs the code of the screen.
import type { ExplorerData } from '../../pages/explorer-config.ts'
import type { Answer } from '../answer/answer.ts'
import type { Session } from '../sign-in/session.ts'
import { type RowRequest, type Side, sendSide } from './requests.ts'
import { isRunByItself, readState, requestOf } from './rosetta-state.ts'

export interface FirstRun {
  /** The answer to a request that was sent already, given away once; null when it has to be sent. */
  readonly take: (side: Side, request: RowRequest) => Promise<Answer> | null
}

const SIDES: readonly Side[] = ['rest', 'graphql']
const PARTS = ['route', 'value', 'query', 'variables'] as const

/** Before `session` is started. Nothing is sent where another page is open, nobody is signed in by the start, or a person has to choose first. */
export function prepareFirstRun({ basePath, routes }: ExplorerData, session: Session): FirstRun {
  const answers = new Map<Side, Promise<Answer>>()
  let sent: { readonly email: string; readonly request: RowRequest } | null = null
  const stop = session.subscribe(() => {
    const { phase, email } = session.state()
    if (phase === 'starting') return
    stop()
    const state = location.pathname === `${basePath}/` ? readState(location.search, routes) : null
    if (phase !== 'signed-in' || email === null || state === null) return
    const request = requestOf(state, email, '')
    const isChosen = state.route.parameter === null || state.value !== null
    if (!isChosen || !isRunByItself(request)) return
    sent = { email, request }
    for (const side of SIDES) answers.set(side, sendSide(side, request, session, new AbortController().signal))
  })
  return {
    take(side, request) {
      const answer = answers.get(side)
      answers.delete(side)
      const isIt = sent?.email === session.state().email && PARTS.every((part) => sent?.request[part] === request[part])
      return answer !== undefined && isIt ? answer : null
    },
  }
}
